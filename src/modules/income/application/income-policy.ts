import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { NewAttempt } from '../domain/income-session.js';

/** The limits income sessions run by (docs/contract/platform.md#income-sessions), given at start. Durations in seconds. */
export class IncomePolicy {
  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      /** How long a session waits for an outcome over all its routes. */
      readonly sessionTtlSeconds: number;
    },
  ) {}

  expiresAt(now: Date): Date {
    return new Date(now.getTime() + this.limits.sessionTtlSeconds * 1_000);
  }

  /** A vendor call that starts now. An income session has an end of its own, and gives up no call before that. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { attemptId, settleAfter: attemptTimes(now, this.limits.vendorTimeoutSeconds).settleAfter };
  }
}
