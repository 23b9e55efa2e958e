// What a pull costs and what comes of it: sets the credit aside, turns the bureau's verdict into the report's facts and settles the
// credit. Used by the first read and by the sweep, so that both do the same.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import type { ReportVerdict } from '../../../ports/credit-bureau.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import { report, type PullEnd, type ReportCommand, type ReportState, type RequestedReport } from '../domain/report.js';
import { ReportBodyStore } from './report-body-store.js';
import { ReportPolicy } from './report-policy.js';

/** A pull that was requested. */
export interface Pull {
  readonly sessionId: string;
  /** The account that pays. */
  readonly accountId: string;
  readonly requested: RequestedReport;
  readonly context: ActionContext;
  /** The report as the request left it; spares a read. */
  readonly known?: LoadedAggregate<ReportState>;
}

/** A verdict that decides something. The others leave the pull as it is: only asking again under the same attempt is never billed twice. */
export type Decisive = Exclude<ReportVerdict, { readonly kind: 'timed-out' | 'unintelligible' }>;

@Injectable()
export class ReportPullOutcome {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly bodies: ReportBodyStore,
    private readonly credit: PrepaidCredit,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  /**
   * Sets the credit of the pull aside, once for all who ask; to be done before the bureau is asked. When there is none left the
   * pull is over, and this answers the report's state afterwards.
   */
  async endedForCredit(pull: Pull): Promise<ReportState | null> {
    const { attemptId } = pull.requested.attempt;
    if (await this.credit.reserve(pull.accountId, attemptId, pull.context)) return null;
    return this.record(pull, { kind: 'fail', attemptId, cause: 'CREDIT_EXHAUSTED' });
  }

  /** The report's state afterwards. The body is in the vault before the log says that there is one. */
  async settle(pull: Pull, verdict: Decisive): Promise<ReportState> {
    return this.record(pull, await this.commandFor(pull, verdict));
  }

  /** Records an end, and settles the credit by what became of the attempt, whoever recorded that. */
  async record(
    { sessionId, accountId, requested, context, known }: Pull,
    command: ReportCommand,
  ): Promise<ReportState> {
    const { state } = await this.aggregates.execute(report, sessionId, command, context, known);
    const { attemptId } = requested.attempt;
    if (state.status === 'RELEASED' && state.attemptId === attemptId)
      await this.credit.debit(accountId, attemptId, context);
    else if (state.status === 'NOT_TO_BE_HAD' && state.end.attemptId === attemptId)
      await this.credit.release(accountId, attemptId, context);
    return state;
  }

  private async commandFor({ requested }: Pull, verdict: Decisive): Promise<ReportCommand> {
    const { attemptId } = requested.attempt;
    switch (verdict.kind) {
      case 'report': {
        if (!(await this.bodies.keep(requested, verdict))) return { kind: 'fail', attemptId, cause: 'PERSON_ERASED' };
        return {
          kind: 'release',
          now: this.clock.now(),
          attemptId,
          scored: verdict.score !== null,
          validitySeconds: this.policy.limits.reportValiditySeconds,
        };
      }
      case 'refused':
        return { kind: 'refuse', attemptId, reason: verdict.reason, upstreamCode: verdict.upstreamCode };
      case 'session-over':
        return { kind: 'fail', attemptId, cause: 'VENDOR_SESSION_OVER' };
      case 'unavailable':
        return { kind: 'fail', attemptId, cause: 'VENDOR_UNAVAILABLE' };
      default:
        return verdict satisfies never;
    }
  }
}

/** What the caller hears of an attempt that ended without a report. */
export function refusalOf(end: PullEnd): DomainError {
  if (end.kind === 'refused')
    return new DomainError(end.reason === 'FILE_FROZEN' ? 'report.file_frozen' : 'screening.identity_not_found');
  switch (end.cause) {
    case 'VENDOR_UNAVAILABLE':
      return new DomainError('service.unavailable');
    case 'VENDOR_SESSION_OVER':
    case 'PERSON_ERASED':
      return new DomainError('report.expired');
    case 'CREDIT_EXHAUSTED':
      return new DomainError('report.credit_exhausted');
    case 'NO_VERDICT':
      return new DomainError('service.upstream_timeout');
    default:
      return end.cause satisfies never;
  }
}
