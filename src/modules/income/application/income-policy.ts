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

  /** A vendor call that starts now. The sweep makes it again once the call's own limit is surely over. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { attemptId, settleAfter: new Date(now.getTime() + this.limits.vendorTimeoutSeconds * 1_000 + 2_000) };
  }
}
