import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import type { NewAttempt } from '../../../challenges/domain/challenge.js';

/** The limits for parties (docs/contract/direct.md#parties), which the process reads at its start. Durations are in seconds. */
export class PartyPolicy {
  readonly lock: AnswerLimit;

  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      readonly otpResendIntervalSeconds: number;
      readonly reauthValiditySeconds: number;
      /** The number of wrong answers in re-authentications that locks a party. */
      readonly attempts: number;
      readonly lockSeconds: number;
    },
  ) {
    this.lock = { attemptsAllowed: limits.attempts, lockSeconds: limits.lockSeconds };
  }

  /** A vendor call that starts now. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { now, attemptId, ...attemptTimes(now, this.limits.vendorTimeoutSeconds) };
  }
}
