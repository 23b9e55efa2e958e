import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { isExpired, report, type ReleasedReport } from '../domain/report.js';
import { reportLooks, type ReportFormat } from '../domain/report-view.js';
import { idOfShare, type ActiveShare } from '../domain/share.js';
import type { CallerContext } from '../../../kernel/context.js';
import { ReportBodyStore, type ReportBody } from './report-body-store.js';

/** A report for one viewer. Times are ISO 8601 UTC. */
export interface OpenedReport extends ReportBody {
  readonly id: string;
  readonly sessionId: string;
  readonly generatedAt: string;
  /** The end of the time in which this viewer may see it. */
  readonly expiresAt: string;
  /** Score and report as JSON text of an object; null when the body holds more. */
  readonly json?: Uint8Array | null;
}

interface Viewing {
  readonly format: ReportFormat;
  readonly context: CallerContext;
}

type Session = Pick<ScreeningFacts, 'sessionId' | 'accountId'>;

/** Returns released reports, and records each view. */
@Injectable()
export class ReportViewer {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly looks: GroupedStream,
    private readonly bodies: ReportBodyStore,
    private readonly clock: Clock,
  ) {}

  /** Shows the report to the session's own account or its parent, within the owner's window. */
  async toOwner(session: Session, released: ReleasedReport, viewing: Viewing): Promise<OpenedReport> {
    if (isExpired(released, this.clock.now())) throw new DomainError('report.expired');
    return (await this.show(session, released, null, viewing)) ?? refuse('report.expired');
  }

  /** Shows a recipient the report as it was released, of any age, without billing. */
  async byShare(session: Session, shared: ActiveShare, viewing: Viewing): Promise<OpenedReport> {
    return (await this.showShared(session, shared, viewing)) ?? refuse('sharing.expired');
  }

  /** Shows the report to an agent or organization of the account. Null after the person was erased. */
  byLink(linked: ActiveShare, viewing: Viewing): Promise<OpenedReport | null> {
    return this.showShared({ sessionId: linked.sessionId, accountId: viewing.context.accountId }, linked, viewing);
  }

  private async showShared(session: Session, shared: ActiveShare, viewing: Viewing): Promise<OpenedReport | null> {
    const { state } = await this.aggregates.load(report, session.sessionId);
    if (state.status !== 'RELEASED')
      throw new Error(`The report of session ${session.sessionId} was shared but is not released`);
    return this.show(session, state, shared, viewing);
  }

  /** Null after the person was erased. */
  private async show(
    session: Session,
    released: ReleasedReport,
    shared: ActiveShare | null,
    { format, context }: Viewing,
  ): Promise<OpenedReport | null> {
    const { sessionId, accountId } = session;
    const { reportId, generatedAt } = released;
    const body = await this.bodies.of(released);
    if (!body) return null;
    // A report is never shown without a record of the view.
    await this.looks.execute(
      reportLooks,
      sessionId,
      {
        kind: 'record',
        sessionId,
        reportId,
        viewerAccountId: context.accountId,
        purpose: 'TENANT_SCREENING',
        format,
        shareId: shared && idOfShare(shared),
      },
      { ...context, accountId },
    );
    return {
      id: reportId,
      sessionId,
      generatedAt,
      expiresAt: (shared ?? released).expiresAt,
      json: body.json,
      get score() {
        return body.score;
      },
      get report() {
        return body.report;
      },
      get text() {
        return body.text;
      },
    };
  }
}

function refuse(code: ErrorCode): never {
  throw new DomainError(code);
}
