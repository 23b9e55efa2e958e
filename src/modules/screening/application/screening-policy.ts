import type { NewAttempt } from '../domain/screening-session.js';
import type { VerdictPolicy } from '../domain/verdicts.js';

/** The limits screening runs by (docs/contract/platform.md#codes-and-answers), given at start. Durations in seconds; of the limits on how often, 0 is none. */
export class ScreeningPolicy {
  readonly verdicts: VerdictPolicy;

  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      readonly otpResendIntervalSeconds: number;
      readonly stepUpTtlSeconds: number;
      readonly stepUpAttempts: number;
      readonly blockSeconds: number;
      readonly reportValiditySeconds: number;
      readonly submitsPerMinutePerAddress: number;
      /** For accounts without a number of their own. */
      readonly submitsPerMinute: number;
      readonly submitsPerHourPerPerson: number;
      readonly smsPerHour: number;
      readonly smsPerDay: number;
    },
  ) {
    this.verdicts = {
      attemptsAllowed: limits.stepUpAttempts,
      stepUpTtlSeconds: limits.stepUpTtlSeconds,
      blockSeconds: limits.blockSeconds,
    };
  }

  /**
   * The times of a vendor call that starts now. The sweep asks what came of it once the call's own limit is surely over,
   * and gives up after three more such limits.
   */
  attempt(attemptId: string, now: Date): NewAttempt {
    const settle = now.getTime() + this.limits.vendorTimeoutSeconds * 1_000 + 2_000;
    return {
      now,
      attemptId,
      settleAfter: new Date(settle),
      giveUpAfter: new Date(settle + 3 * this.limits.vendorTimeoutSeconds * 1_000),
    };
  }
}
