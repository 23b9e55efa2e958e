import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { report, type ReportEvent } from '../domain/report.js';

type Settling = Extract<ReportEvent['type'], 'ReportReleased' | 'ReportPullRefused' | 'ReportPullFailed'>;
const TYPES = ['ReportReleased', 'ReportPullRefused', 'ReportPullFailed'] as const satisfies readonly Settling[];

/** Settles the credit of a pull a second time, in case the process died between recording the pull's end and settling it. */
@Injectable()
export class WhenReportSettled implements EventHandler {
  readonly name = 'report_credit';
  readonly categories = [report.category];
  readonly types: ReadonlySet<string> = new Set(TYPES);

  constructor(private readonly credit: PrepaidCredit) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const event = recorded as RecordedEvent & Extract<ReportEvent, { type: Settling }>;
    const { accountId, environment, $correlationId: correlationId } = recorded.metadata;
    if (accountId === null) throw new Error(`${recorded.type} of ${recorded.stream} belongs to no account`);
    const context = {
      accountId,
      environment,
      actor: { kind: 'system', id: 'when-report-settled' } as const,
      correlationId,
      causationId: recorded.id,
    };
    const { attemptId } = event.data;
    const sessionId = idOf(recorded.stream);
    if (event.type === 'ReportReleased') await this.credit.debit(accountId, attemptId, context, sessionId);
    else await this.credit.release(accountId, attemptId, context, sessionId);
  }
}
