import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import type { NewAttempt } from '../../../challenges/domain/challenge.js';

/** The limits parties run by (docs/contract/direct.md#parties), given at start. Durations in seconds. */
export class PartyPolicy {
  readonly lock: AnswerLimit;

  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      readonly otpResendIntervalSeconds: number;
      readonly reauthValiditySeconds: number;
      /** Wrong answers of a re-authentication, the last of which locks. */
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
