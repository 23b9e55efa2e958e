// The steps of a session's report and of its shares, for the timeline of the session (docs/contract/server.md#timeline).
import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { EventStore } from '../../../ports/event-store.js';
import { ReadModels } from '../../../ports/read-models.js';
import { type HistoryStep, type REPORT_STEPS, ReportHistory } from '../../../published/report-history.js';
import { report, type ReportEvent } from '../domain/report.js';
import { share, type ShareEvent } from '../domain/share.js';
import { shareRegister, type ShareRegisterEvent } from '../domain/share-register.js';
import { reportShares, sharesOfSession } from './report-shares.js';

type Step = HistoryStep<(typeof REPORT_STEPS)[number]>;
type Told = Pick<Step, 'type' | 'detail'>;

@Injectable()
export class ReportSteps extends ReportHistory {
  constructor(
    private readonly events: EventStore,
    private readonly readModels: ReadModels,
  ) {
    super();
  }

  override async of(sessionId: string): Promise<readonly Step[]> {
    const streams = [
      `${report.category}-${sessionId}`,
      ...(await this.sharesOf(sessionId)).map((id) => `${share.category}-${id}`),
    ];
    const histories = await Promise.all(streams.map((stream) => this.events.readStream(stream)));
    return (histories.flat() as (RecordedEvent & (ReportEvent | ShareEvent))[]).map((event) => ({
      position: event.position,
      at: event.metadata.occurredAt,
      actor: event.metadata.actor.kind,
      ...told(event),
    }));
  }

  /** The list has shares that are older than the register. The register has shares that the list does not have yet. */
  private async sharesOf(sessionId: string): Promise<readonly string[]> {
    const registered = await this.events.readStream(`${shareRegister.category}-${sessionId}`);
    const listed = await this.readModels.idsIn(reportShares, sharesOfSession(sessionId));
    return [...new Set([...(registered as ShareRegisterEvent[]).map(({ data }) => data.shareId), ...listed])];
  }
}

/** Names each field of a detail, so that no other field of an event becomes visible. */
function told(event: ReportEvent | ShareEvent): Told {
  switch (event.type) {
    case 'ReportRequested':
      return { type: 'report.requested', detail: {} };
    case 'ReportReleased':
      return { type: 'report.released', detail: { expires_at: event.data.expiresAt } };
    case 'ReportPullRefused':
      return { type: 'report.refused', detail: { reason: event.data.reason } };
    case 'ReportPullFailed':
      return { type: 'report.failed', detail: { cause: event.data.cause } };
    case 'ReportPullAwaited':
      return { type: 'report.awaited', detail: {} };
    case 'ReportPullsEnded':
    case 'ReportPaymentCarriedOver':
      return { type: 'report.pulls_ended', detail: { transaction_id: event.data.transactionId } };
    case 'ReportShared':
      return {
        type: 'report.shared',
        detail: { recipient_account_id: event.data.recipientAccountId, expires_at: event.data.expiresAt },
      };
    case 'SharingRevoked':
      return { type: 'report.revoked', detail: { recipient_account_id: event.data.recipientAccountId } };
    default:
      return event satisfies never;
  }
}
