import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { isExpired, report, type ReleasedReport } from '../domain/report.js';
import { reportView, type ReportFormat } from '../domain/report-view.js';
import { idOfShare, type ActiveShare } from '../domain/share.js';
import type { CallerContext } from '../../../kernel/context.js';
import { ReportBodyStore, type ReportBody } from './report-body-store.js';

/** A report as a viewer sees it. Times are ISO 8601 UTC. */
export interface OpenedReport extends ReportBody {
  readonly id: string;
  readonly sessionId: string;
  readonly generatedAt: string;
  /** Until when this viewer may see it. */
  readonly expiresAt: string;
}

interface Viewing {
  readonly format: ReportFormat;
  readonly context: CallerContext;
}

/** Hands out released reports, each time with a record of who looked. */
@Injectable()
export class ReportViewer {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly bodies: ReportBodyStore,
    private readonly clock: Clock,
  ) {}

  /** To the session's own account or its parent, within the owner's window. */
  async toOwner(session: ScreeningFacts, released: ReleasedReport, viewing: Viewing): Promise<OpenedReport> {
    if (isExpired(released, this.clock.now())) throw new DomainError('report.expired');
    return this.show(session, released, released.expiresAt, null, viewing);
  }

  /** To a recipient: what was released then, however long ago, without any billing. */
  async byShare(session: ScreeningFacts, shared: ActiveShare, viewing: Viewing): Promise<OpenedReport> {
    const { state } = await this.aggregates.load(report, session.sessionId);
    if (state.status !== 'RELEASED')
      throw new Error(`The report of session ${session.sessionId} was shared but is not released`);
    return this.show(session, state, shared.expiresAt, shared, viewing);
  }

  private async show(
    session: ScreeningFacts,
    released: ReleasedReport,
    expiresAt: string,
    shared: ActiveShare | null,
    { format, context }: Viewing,
  ): Promise<OpenedReport> {
    const { sessionId, accountId } = session;
    const { reportId, generatedAt } = released;
    const body = await this.bodies.of(released);
    if (!body) throw new DomainError(shared ? 'sharing.expired' : 'report.expired');
    // No report is shown without a record of it.
    await this.aggregates.create(
      reportView,
      newId(),
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
    return { id: reportId, sessionId, score: body.score, report: body.report, generatedAt, expiresAt };
  }
}
