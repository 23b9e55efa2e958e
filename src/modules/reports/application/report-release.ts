import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import { machineNow } from '../../../kernel/machine-time.js';
import type { CallerContext, Owner } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError, type DomainErrorDetail } from '../../../kernel/domain-error.js';
import type { ReadPurpose } from '../../../kernel/permissible-purpose.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import {
  isPending,
  nextAttemptId,
  report,
  secondsToNextPull,
  type ReleasedReport,
  type ReportState,
} from '../domain/report.js';
import { ReportPolicy } from './report-policy.js';
import { ReportPull, notYet, refusalOf } from './report-pull.js';

/** The caller, and the purpose under which it reads. */
export type PullContext = CallerContext & { readonly read: ReadPurpose };
export type PulledReport = Exclude<ReportState, { readonly status: 'NONE' }>;

/** The time between two checks of another caller's pull. This time is short at first, because most pulls end soon. */
const LOOK_AGAIN_MS = { first: 20, growth: 1.5, most: 250 };

/**
 * Releases a session's report. The report is pulled from the bureau once for all callers and processes, and costs one report of the account's credit.
 * `ReportAccess` has checked the caller before.
 */
@Injectable()
export class ReportRelease {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly pull: ReportPull,
    private readonly credit: PrepaidCredit,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  /** The report, which is pulled first if needed. The report may have expired. */
  async released(session: ScreeningFacts, context: PullContext): Promise<ReleasedReport> {
    const state = await this.pulled(session, context);
    if (state.status === 'RELEASED') return state;
    if (state.status === 'NOT_TO_BE_HAD') throw refusalOf(state.end, await this.again(state, session));
    throw notYet(state.attempt, this.clock.now(), 'service.unavailable');
  }

  /** The time until the next pull, from the state before this request. */
  async stands(session: ScreeningFacts): Promise<Pick<DomainErrorDetail, 'retryAfterSeconds'>> {
    return this.again((await this.aggregates.load(report, session.sessionId)).state, session);
  }

  /** The time until which a request does not ask the bureau again after a refusal. Empty: the next request asks at once. */
  private async again(state: ReportState, owner: Owner): Promise<Pick<DomainErrorDetail, 'retryAfterSeconds'>> {
    const seconds = secondsToNextPull(state, await this.clock.of(owner), this.policy.limits.retryIntervalSeconds);
    return seconds === 0 ? {} : { retryAfterSeconds: seconds };
  }

  /**
   * The state after the pull, which is made if needed. REQUESTED: the pull's end is not known yet. A refused pull is repeated after its interval. If
   * the bureau cannot be asked at all, this is recorded once as the end of a pull.
   */
  async pulled(session: ScreeningFacts, { read, ...context }: PullContext): Promise<PulledReport> {
    const { sessionId, accountId, subjectId, vendors, paidBy } = session;
    const { state: seen } = await this.aggregates.load(report, sessionId);
    if (seen.status === 'RELEASED') return seen;
    if (seen.status === 'REQUESTED') return this.awaited(sessionId);
    if (seen.status === 'NOT_TO_BE_HAD' && (await this.again(seen, session)).retryAfterSeconds !== undefined)
      return seen;
    const attemptId = nextAttemptId(sessionId, seen);
    const own = { ...context, accountId };
    const times = this.policy.attempt(this.clock.now());
    const { settleAfter } = times;
    const attempt = { id: sessionId, attemptId, subject: subjectId, context: own, vendor: vendors.credit, settleAfter };
    const command = {
      kind: 'request',
      sessionId,
      reportId: newId(),
      attemptId,
      purpose: read.purpose,
      subjectId,
      paidBy,
      ...times,
    } as const;
    const reference = await this.pull.referenceOf(sessionId);
    if (typeof reference === 'string') {
      const lost = { cause: reference, now: await this.clock.of(own) };
      await this.aggregates.execute(report, sessionId, { ...command, lost }, own);
      return this.awaited(sessionId);
    }
    // An account without credit must not make the log grow with its requests.
    if (!(await this.credit.available(accountId, attemptId))) throw new DomainError('report.credit_exhausted');
    await this.calls.admit(this.pull, attempt);
    let pending = false;
    let requested = false;
    try {
      // The request is recorded before the credit is reserved, so that the recovery job knows of every reservation.
      const { state, events } = await this.aggregates.execute(report, sessionId, command, attempt.context);
      pending = isPending(state, attemptId);
      requested = events.length > 0;
    } finally {
      // Attempts with one id count once for the account's limit of calls. If another caller makes this pull, that caller also ends the count.
      if (!pending) await this.calls.withdraw(this.pull, attempt);
    }
    if (!requested) return this.awaited(sessionId);
    await this.calls.make(this.pull, attempt, null);
    return this.awaited(sessionId, attemptId);
  }

  /**
   * Waits until a pull that another caller makes has ended, in this process or another, for as long as a pull may take. Returns at once for the
   * attempt `made` here, and while the bureau says that it is at work. A worker or the recovery job records their end later.
   */
  private async awaited(sessionId: string, made: string | null = null): Promise<PulledReport> {
    const until = machineNow() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    for (let ms = LOOK_AGAIN_MS.first; ; ms = Math.min(ms * LOOK_AGAIN_MS.growth, LOOK_AGAIN_MS.most)) {
      const { state } = await this.aggregates.load(report, sessionId);
      if (state.status === 'NONE') throw new Error(`The pull of the report of session ${sessionId} is not in the log`);
      if (state.status !== 'REQUESTED' || state.attempt.pendingSince !== undefined) return state;
      if ((made !== null && isPending(state, made)) || machineNow() >= until) return state;
      await pause(ms);
    }
  }
}
