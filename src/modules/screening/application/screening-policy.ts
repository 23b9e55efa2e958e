import { attemptTimes } from '../../../external-calls/attempt-times.js';
import { after } from '../../../challenges/domain/answer-limit.js';
import type { NewAttempt } from '../../../challenges/domain/challenge.js';
import type { VerdictPolicy } from '../domain/verdicts.js';

/**
 * The limits for screenings (docs/contract/platform.md#codes-and-answers), which the process reads at its start. Durations are in seconds. A rate
 * limit of 0 means no limit.
 */
export class ScreeningPolicy {
  readonly verdicts: VerdictPolicy;

  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      readonly otpResendIntervalSeconds: number;
      readonly stepUpTtlSeconds: number;
      readonly stepUpAttempts: number;
      readonly blockSeconds: number;
      readonly reviewSeconds: number;
      readonly applicantKeptSeconds: number;
      readonly reportValiditySeconds: number;
      readonly submitsPerMinutePerAddress: number;
      /** For accounts without a limit of their own. */
      readonly submitsPerMinute: number;
      readonly submitsPerHourPerPerson: number;
      readonly wrongAnswersPerHourPerAddress: number;
      readonly smsPerHour: number;
      readonly smsPerDay: number;
    },
  ) {
    this.verdicts = {
      attemptsAllowed: limits.stepUpAttempts,
      stepUpTtlSeconds: limits.stepUpTtlSeconds,
      lockSeconds: limits.blockSeconds,
      reviewSeconds: limits.reviewSeconds,
    };
  }

  /** The time until which the vault keeps the person's own data (ISO 8601 UTC). */
  applicantKeptUntil(verifiedAt: string): string {
    return after(new Date(verifiedAt), this.limits.applicantKeptSeconds);
  }

  /** A vendor call that starts now. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { now, attemptId, ...attemptTimes(now, this.limits.vendorTimeoutSeconds) };
  }
}
