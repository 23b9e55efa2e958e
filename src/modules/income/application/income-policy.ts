import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { CallerContext } from '../../../kernel/context.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import type { NewAttempt } from '../domain/income-session.js';

/** For how long the sessions of a screening are counted, seconds. */
const SCREENING_WINDOW = 30 * 86_400;
const MINUTE = 60;

/** The limits income sessions run by (docs/contract/platform.md#income-sessions), given at start. Durations in seconds; of the limits on how often, 0 is none. */
export class IncomePolicy {
  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      /** How long a session waits for an outcome over all its routes. */
      readonly sessionTtlSeconds: number;
      readonly sessionsPerScreening: number;
      /** Without a screening, of a lineage and of an account. */
      readonly sessionsPerMinute: number;
      readonly sessionsPerMinutePerAccount: number;
      /** Of one lineage, or of the account of a server. */
      readonly readsPerMinute: number;
    },
  ) {}

  /** What one more session uses. One under a session grant, or with a verified screening, takes no room of strangers. */
  opening(
    asked: {
      readonly screeningSessionId: string | null;
      readonly grantId: string | null;
      readonly clientAddress: string | null;
    },
    { accountId, environment, lineage = accountId }: CallerContext,
  ): readonly RateUse[] {
    const { sessionsPerScreening, sessionsPerMinute, sessionsPerMinutePerAccount } = this.limits;
    const { screeningSessionId, grantId, clientAddress } = asked;
    if (screeningSessionId !== null)
      return [{ key: `income-of:${screeningSessionId}`, limit: sessionsPerScreening, windowSeconds: SCREENING_WINDOW }];
    const own = { key: `income-by:${lineage}`, limit: sessionsPerMinute, windowSeconds: MINUTE };
    if (grantId !== null || clientAddress === null) return [own];
    const key = `income:${accountId}:${environment}`;
    const callers = [clientAddress, lineage];
    return [own, { key, limit: sessionsPerMinutePerAccount, windowSeconds: MINUTE, callers }];
  }

  /** What one more look at a report uses, counted with those at reports of screenings. */
  reading({ accountId, environment, grantId, lineage }: CallerContext): RateUse {
    const reader = grantId ?? lineage ?? `${accountId}:${environment}`;
    return { key: `report-reads:${reader}`, limit: this.limits.readsPerMinute, windowSeconds: MINUTE };
  }

  expiresAt(now: Date): Date {
    return new Date(now.getTime() + this.limits.sessionTtlSeconds * 1_000);
  }

  /** A vendor call that starts now. An income session has an end of its own, and gives up no call before that. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { attemptId, settleAfter: attemptTimes(now, this.limits.vendorTimeoutSeconds).settleAfter };
  }
}
