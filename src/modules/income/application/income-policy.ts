import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { CallerContext } from '../../../kernel/context.js';
import { limitRule, type RateUse } from '../../../ports/rate-limiter.js';
import type { NewAttempt } from '../domain/income-session.js';

/** The period in seconds in which the sessions of a screening are counted together. */
const SCREENING_WINDOW = 30 * 86_400;
const MINUTE = 60;

/**
 * The limits of income sessions (docs/contract/platform.md#income-sessions), which the process reads at its start. Durations are in seconds. A rate
 * limit of 0 means unlimited.
 */
export class IncomePolicy {
  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      /** The time for which a session waits for an outcome over all its routes. */
      readonly sessionTtlSeconds: number;
      readonly sessionsPerScreening: number;
      /** The counts of sessions without a screening, per lineage of tokens and per account. */
      readonly sessionsPerMinute: number;
      readonly sessionsPerMinutePerAccount: number;
      /** The count is per lineage of tokens, or per account for a server. */
      readonly readsPerMinute: number;
    },
  ) {}

  /**
   * The limits for which one more session counts. Sessions under a grant or with a verified screening are not counted together with those of unknown
   * visitors.
   */
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
    if (screeningSessionId !== null) {
      const rule = { limit: sessionsPerScreening, windowSeconds: SCREENING_WINDOW, of: 'of one screening' };
      return [use(`income-of:${screeningSessionId}`, rule, 'INCOME_SESSIONS_PER_SCREENING')];
    }
    const ofCaller = { limit: sessionsPerMinute, windowSeconds: MINUTE, of: 'of one caller without a screening' };
    const own = use(`income-by:${lineage}`, ofCaller, 'INCOME_SESSIONS_PER_MINUTE');
    if (grantId !== null || clientAddress === null) return [own];
    const of = 'of one account without a screening';
    const ofAccount = { limit: sessionsPerMinutePerAccount, windowSeconds: MINUTE, of };
    const shared = use(`income:${accountId}:${environment}`, ofAccount, 'INCOME_SESSIONS_PER_MINUTE_PER_ACCOUNT');
    return [own, { ...shared, callers: [clientAddress, lineage] }];
  }

  /** The limit for one more read of a report. Reads of screening reports count for the same limit. */
  reading({ accountId, environment, grantId, lineage }: CallerContext): RateUse {
    const reader = grantId ?? lineage ?? `${accountId}:${environment}`;
    const limit = this.limits.readsPerMinute;
    const rule = limitRule(limit, 'reads of reports by one caller', MINUTE, 'REPORT_READS_PER_MINUTE');
    return { key: `report-reads:${reader}`, limit, windowSeconds: MINUTE, rule };
  }

  expiresAt(now: Date): Date {
    return new Date(now.getTime() + this.limits.sessionTtlSeconds * 1_000);
  }

  /** A vendor call that starts now. The call has no time limit of its own, because the income session expires. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { attemptId, settleAfter: attemptTimes(now, this.limits.vendorTimeoutSeconds).settleAfter };
  }
}

interface Counted {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly of: string;
}

function use(key: string, { limit, windowSeconds, of }: Counted, variable: string): RateUse {
  return { key, limit, windowSeconds, rule: limitRule(limit, `income sessions ${of}`, windowSeconds, variable) };
}
