import { Query, type IQueryHandler } from '@nestjs/cqrs';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { isId, newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { IncomeReport } from '../../../ports/income-vendor.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import { incomeReportView } from '../domain/income-report-view.js';
import { incomeSession } from '../domain/income-session.js';
import type { IncomeSession, Route } from '../domain/income.js';
import { IncomePolicy } from './income-policy.js';
import { IncomeSecrets } from './income-secrets.js';

export interface ViewedIncomeReport {
  readonly incomeSessionId: string;
  readonly route: Route;
  readonly generatedAt: string;
  readonly report: IncomeReport;
}

/** Returns the report of a completed session. Each view is recorded before the report is returned. */
@UseCase()
export class ViewIncomeReport extends Query<ViewedIncomeReport> {
  constructor(
    readonly incomeSessionId: string,
    /** `own`: the account's own sessions that the page may read. `own-and-children`: all sessions of the account and its direct children. */
    readonly reach: 'own' | 'own-and-children',
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ViewIncomeReport)
export class ViewIncomeReportHandler implements IQueryHandler<ViewIncomeReport> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: IncomeSecrets,
    private readonly accounts: Accounts,
    private readonly limiter: RateLimiter,
    private readonly policy: IncomePolicy,
  ) {}

  async execute({ incomeSessionId, reach, context }: ViewIncomeReport): Promise<ViewedIncomeReport> {
    await this.limiter.admit([this.policy.reading(context)]);
    const { session, ownerId } = await this.readable(incomeSessionId, reach, context);
    if (session.status !== 'COMPLETED') throw new DomainError('income.report_not_ready');
    const report = await this.secrets.report(session.subjectId, incomeSessionId);
    if (report === 'erased') throw new DomainError('request.not_found');
    if (report === null) throw new Error(`Income session ${incomeSessionId} is completed but has no report`);
    const view = { kind: 'view', incomeSessionId, viewerAccountId: context.accountId } as const;
    // The event belongs to the account of the session.
    await this.aggregates.execute(incomeReportView, { id: newId(), known: unstored(incomeReportView.initial) }, view, {
      ...context,
      accountId: ownerId,
    });
    return { incomeSessionId, route: session.route, generatedAt: session.generatedAt, report };
  }

  /** Unknown, malformed and foreign ids give the same error, and so does an id of the other environment. */
  private async readable(
    id: string,
    reach: ViewIncomeReport['reach'],
    viewer: ViewIncomeReport['context'],
  ): Promise<{ readonly session: IncomeSession; readonly ownerId: string }> {
    const loaded = isId(id) ? await this.aggregates.load(incomeSession, id) : null;
    const session = loaded?.state;
    const ownerId = loaded?.owner?.accountId;
    if (!session || session.status === 'NONE' || !ownerId || loaded.owner.environment !== viewer.environment)
      throw new DomainError('request.not_found');
    const may =
      reach === 'own'
        ? isOpenTo(loaded.owner, session, viewer)
        : await this.accounts.mayRead(viewer.accountId, ownerId);
    if (!may) throw new DomainError('request.not_found');
    return { session, ownerId };
  }
}
