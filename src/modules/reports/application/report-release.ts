import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { CreditBureau } from '../../../ports/credit-bureau.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { nextAttemptId, report, type ReleasedReport } from '../domain/report.js';
import { type Decisive, type Pull, ReportPullOutcome, refusalOf } from './report-pull-outcome.js';
import type { CallerContext } from '../../../kernel/context.js';
import { ReportPolicy } from './report-policy.js';

/** Between two looks at a pull that somebody else makes: short at first, because most are nearly done. */
const LOOK_AGAIN_MS = { first: 20, growth: 1.5, most: 250 };

/**
 * Sees to it that a session's report is released: pulled from the bureau once, whoever asks and in how many processes, and
 * paid with one report of the account's credit. Admission is checked before (`ReportAccess`).
 */
@Injectable()
export class ReportRelease {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly bureau: CreditBureau,
    private readonly credit: PrepaidCredit,
    private readonly settling: ReportPullOutcome,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  /** The report, pulled first if nobody did. May be expired. */
  async released(session: ScreeningFacts, context: CallerContext): Promise<ReleasedReport> {
    const { sessionId, accountId, subjectId } = session;
    const loaded = await this.aggregates.load(report, sessionId);
    if (loaded.state.status === 'RELEASED') return loaded.state;
    if (loaded.state.status === 'REQUESTED') return this.awaited(sessionId);
    const vendorSession = await this.screenings.vendorSession(sessionId);
    if (vendorSession === null) throw new DomainError('report.expired');
    const attemptId = nextAttemptId(sessionId, loaded.state);
    // Whoever has no credit leaves nothing in the log, however often.
    if (!(await this.credit.available(accountId, attemptId))) throw new DomainError('report.credit_exhausted');
    const own = { ...context, accountId };
    const command = {
      kind: 'request',
      sessionId,
      reportId: newId(),
      attemptId,
      purpose: 'TENANT_SCREENING',
      subjectId,
      ...this.policy.attempt(this.clock.now()),
    } as const;
    const requested = await this.aggregates.execute(report, sessionId, command, own, loaded);
    if (requested.events.length === 0 || requested.state.status !== 'REQUESTED') return this.awaited(sessionId);
    // The request comes before the credit, so that the sweep knows of whatever is set aside.
    const pull = { sessionId, accountId, requested: requested.state, context: own, known: requested };
    const state =
      (await this.settling.endedForCredit(pull)) ??
      (await this.settling.settle(pull, await this.verdictOn(pull, vendorSession)));
    if (state.status === 'RELEASED') return state;
    if (state.status === 'NOT_TO_BE_HAD') throw refusalOf(state.end);
    return this.awaited(sessionId);
  }

  private async verdictOn({ requested, context }: Pull, vendorSession: string): Promise<Decisive> {
    const verdict = await this.bureau.pullReport(
      vendorCall(requested.attempt.inquiryId, requested.subjectId, context),
      vendorSession,
    );
    if (verdict.kind === 'timed-out') throw new DomainError('service.upstream_timeout');
    if (verdict.kind === 'unintelligible') throw new DomainError('service.unavailable');
    return verdict;
  }

  /** What comes of a pull that somebody else makes, here or in another process; patient for as long as a pull may take. */
  private async awaited(sessionId: string): Promise<ReleasedReport> {
    const until = Date.now() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    for (let pause = LOOK_AGAIN_MS.first; ; pause = Math.min(pause * LOOK_AGAIN_MS.growth, LOOK_AGAIN_MS.most)) {
      const { state } = await this.aggregates.load(report, sessionId);
      if (state.status === 'RELEASED') return state;
      if (state.status === 'NOT_TO_BE_HAD') throw refusalOf(state.end);
      if (Date.now() >= until) throw new DomainError('service.upstream_timeout');
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
