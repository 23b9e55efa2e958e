import { attemptTimes } from '../../../external-calls/attempt-times.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import type { LockPolicy, NewAttempt } from '../domain/party-decider.js';

const HOUR = 3_600;
const DAY = 86_400;

/** The limits parties run by (docs/contract/direct.md#parties), given at start. Durations in seconds. */
export class PartyPolicy {
  readonly lock: LockPolicy;

  constructor(
    readonly limits: {
      readonly vendorTimeoutSeconds: number;
      readonly otpResendIntervalSeconds: number;
      readonly reauthValiditySeconds: number;
      /** Wrong answers of a re-authentication, the last of which locks. */
      readonly attempts: number;
      readonly lockSeconds: number;
      /** Codes that one party may be sent to authenticate again; 0 is no limit. */
      readonly smsPerHour: number;
      readonly smsPerDay: number;
    },
  ) {
    this.lock = { attemptsAllowed: limits.attempts, lockSeconds: limits.lockSeconds };
  }

  /** What one more code uses. Whose phone it goes to, the vendor knows: each party has the limit of a phone. */
  codesTo(partyId: string): readonly RateUse[] {
    const { smsPerHour, smsPerDay } = this.limits;
    return [
      { key: `hourly-party-sms:${partyId}`, limit: smsPerHour, windowSeconds: HOUR },
      { key: `daily-party-sms:${partyId}`, limit: smsPerDay, windowSeconds: DAY },
    ];
  }

  /** A vendor call that starts now. */
  attempt(attemptId: string, now: Date): NewAttempt {
    return { now, attemptId, ...attemptTimes(now, this.limits.vendorTimeoutSeconds) };
  }
}
