import { Query, type IQueryHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { isId, newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ReadPurpose } from '../../../kernel/permissible-purpose.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { IncomeReport } from '../../../ports/income-vendor.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import { purposeOfRead } from '../../../published/purposes.js';
import { Screenings } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';
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
    private readonly screenings: Screenings,
    private readonly grants: SessionGrants,
    private readonly clock: Clock,
    private readonly limiter: RateLimiter,
    private readonly policy: IncomePolicy,
  ) {}

  async execute({ incomeSessionId, reach, context }: ViewIncomeReport): Promise<ViewedIncomeReport> {
    await this.limiter.admit([this.policy.reading(context)]);
    const { session, ownerId } = await this.readable(incomeSessionId, reach, context);
    if (session.status !== 'COMPLETED') throw new DomainError('income.report_not_ready');
    const read = await this.purposeOf(session, context);
    const report = await this.secrets.report(session.subjectId, incomeSessionId);
    if (report === 'erased') throw new DomainError('request.not_found');
    if (report === null) throw new Error(`Income session ${incomeSessionId} is completed but has no report`);
    const view = { kind: 'view', incomeSessionId, viewerAccountId: context.accountId, read } as const;
    // The event belongs to the account of the session.
    await this.aggregates.execute(incomeReportView, { id: newId(), known: unstored(incomeReportView.initial) }, view, {
      ...context,
      accountId: ownerId,
    });
    return { incomeSessionId, route: session.route, generatedAt: session.generatedAt, report };
  }

  /** The purpose of the screening, or else of the grant, or else of the request (docs/contract/general.md#purposes). */
  private async purposeOf(
    { screeningSessionId, grantId }: IncomeSession,
    context: ViewIncomeReport['context'],
  ): Promise<ReadPurpose> {
    const account = await this.accounts.find(context.accountId);
    if (account === null) throw new DomainError('request.unauthenticated');
    const screening = screeningSessionId === null ? null : await this.screenings.find(screeningSessionId);
    const grant = grantId === undefined ? null : await this.grants.find(grantId);
    const { purpose = null, endUserType = null } = grant ?? {};
    const granted = { purpose, endUserType: endUserType === 'OTHER' ? null : endUserType };
    const named = [screening, granted, context.named].filter((one) => one !== null && one !== undefined);
    return purposeOfRead(account, named, await this.clock.of(context));
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
