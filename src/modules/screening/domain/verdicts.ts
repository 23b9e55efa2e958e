// What a vendor's verdict means for a session. Pure; called by the session's decider only.
import type { RefusedInput } from '../../../kernel/refused-input.js';
import type { BlockReason, Attempt, QuestionShape, SessionEvent, StepUp } from './session.js';

/** The parts of a vendor's verdict that the domain decides by: no token, no texts. */
export type RegistrationVerdict =
  | { readonly kind: 'confirmed'; readonly duplicateGuard: boolean }
  | {
      readonly kind: 'step-up';
      readonly otp: boolean;
      readonly questions: readonly QuestionShape[];
      readonly duplicateGuard: boolean;
    }
  | { readonly kind: 'input-refused'; readonly input: RefusedInput }
  | { readonly kind: 'report-expired' | 'product-not-enabled' }
  | Ending
  | NoVerdict;

export type AnswerVerdict =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'wrong'; readonly attemptsRemaining: number | null }
  | Ending
  | NoVerdict;

export type ResendVerdict = { readonly kind: 'sent' } | Ending | NoVerdict;

type Ending =
  | { readonly kind: 'session-over' }
  | { readonly kind: 'refused'; readonly reason: Exclude<BlockReason, 'TOO_MANY_ATTEMPTS'> }
  | { readonly kind: 'locked'; readonly unblockAt: string | null };

type NoVerdict =
  { readonly kind: 'unavailable' } | { readonly kind: 'timed-out' } | { readonly kind: 'unintelligible' };

export interface VerdictPolicy {
  readonly attemptsAllowed: number;
  readonly stepUpTtlSeconds: number;
  readonly blockSeconds: number;
}

interface Recording<Verdict> {
  readonly now: Date;
  readonly attemptId: string;
  readonly verdict: Verdict;
  readonly policy: VerdictPolicy;
}

export function recordRegistration(
  recording: Recording<RegistrationVerdict>,
  attempt: Attempt,
): readonly SessionEvent[] {
  const { now, verdict, policy } = recording;
  const { attemptId } = attempt;
  switch (verdict.kind) {
    case 'confirmed':
      return [
        {
          type: 'IdentityVerified',
          data: { attemptId, verifiedAt: now.toISOString(), duplicateGuard: verdict.duplicateGuard },
        },
      ];
    case 'step-up': {
      const methods = [
        ...(verdict.otp ? ['OTP' as const] : []),
        ...(verdict.questions.length > 0 ? ['KBA' as const] : []),
      ];
      if (methods.length === 0)
        return [{ type: 'SessionErrored', data: { attemptId, cause: 'VENDOR_UNINTELLIGIBLE' } }];
      return [
        {
          type: 'StepUpRequired',
          data: {
            attemptId,
            methods,
            questions: verdict.questions,
            attemptsAllowed: policy.attemptsAllowed,
            expiresAt: after(now, policy.stepUpTtlSeconds),
            smsSentAt: verdict.otp ? now.toISOString() : null,
            duplicateGuard: verdict.duplicateGuard,
          },
        },
      ];
    }
    case 'input-refused':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'INPUT_REFUSED', refusedInput: verdict.input } }];
    case 'report-expired':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'REPORT_EXPIRED' } }];
    case 'product-not-enabled':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'PRODUCT_NOT_ENABLED' } }];
    case 'unavailable':
      // Made again: an input that Redis brought back may have been executed before. The next settlement asks the vendor.
      if (now >= new Date(attempt.settleAfter)) return [];
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
    case 'timed-out':
      // The vendor may still answer: the session stays SUBMITTED and the recovery job has the vendor asked (docs/contract/platform.md#waiting-for-the-vendor).
      return [];
    default:
      return end(recording, verdict);
  }
}

/** How the person stands in all sessions together, this answer included (docs/contract/platform.md#wrong-answers-of-a-person). */
export interface Standing {
  /** ISO 8601 UTC; null while the person is not locked out. */
  readonly lockedUntil: string | null;
  readonly attemptsRemaining: number;
}

export function recordAnswer(
  recording: Recording<AnswerVerdict>,
  method: 'otp' | 'kba',
  stepUp: StepUp,
  standing: Standing,
): readonly SessionEvent[] {
  const { now, attemptId, verdict, policy } = recording;
  switch (verdict.kind) {
    case 'confirmed':
      // Right, but too late: meanwhile another session has locked the person.
      if (standing.lockedUntil !== null) return [tooManyAttempts(recording, standing.lockedUntil)];
      return [{ type: 'IdentityVerified', data: { attemptId, verifiedAt: now.toISOString(), duplicateGuard: false } }];
    case 'wrong': {
      const attemptsRemaining =
        standing.lockedUntil === null ? Math.min(remainingAfter(verdict, stepUp), standing.attemptsRemaining) : 0;
      const rejected = rejection(method, attemptId, attemptsRemaining, after(now, policy.stepUpTtlSeconds));
      return attemptsRemaining > 0 ? [rejected] : [rejected, tooManyAttempts(recording, standing.lockedUntil)];
    }
    case 'locked':
      // The lock is the vendor's way to say that this answer, too, was wrong.
      return [
        rejection(method, attemptId, 0, after(now, policy.stepUpTtlSeconds)),
        tooManyAttempts(recording, standing.lockedUntil ?? verdict.unblockAt),
      ];
    case 'unavailable':
      return [{ type: 'AttemptAbandoned', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
    case 'timed-out':
      return [];
    default:
      return end(recording, verdict);
  }
}

/** Until when an answer with this verdict locks the person, by the vendor's word or by the session's own count; null when it does not. */
export function lockBy(
  { now, verdict, policy }: Omit<Recording<AnswerVerdict>, 'attemptId'>,
  stepUp: StepUp,
): string | null {
  if (verdict.kind === 'locked') return lockEnd(verdict, now, policy);
  return verdict.kind === 'wrong' && remainingAfter(verdict, stepUp) === 0 ? after(now, policy.blockSeconds) : null;
}

/** The vendor's time, else ours (ISO 8601 UTC). */
export function lockEnd(
  { unblockAt }: Extract<Ending, { kind: 'locked' }>,
  now: Date,
  { blockSeconds }: VerdictPolicy,
): string {
  return unblockAt ?? after(now, blockSeconds);
}

/** The vendor's count wins (docs/contract/platform.md#codes-and-answers), but attempts that were told to be gone do not come back. */
function remainingAfter(verdict: Extract<AnswerVerdict, { kind: 'wrong' }>, { attemptsRemaining }: StepUp): number {
  return Math.max(0, Math.min(verdict.attemptsRemaining ?? attemptsRemaining - 1, attemptsRemaining));
}

export function recordResend(recording: Recording<ResendVerdict>): readonly SessionEvent[] {
  const { now, attemptId, verdict } = recording;
  switch (verdict.kind) {
    case 'sent':
      return [{ type: 'OtpResent', data: { attemptId, smsSentAt: now.toISOString() } }];
    case 'unavailable':
      return [{ type: 'AttemptAbandoned', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
    case 'timed-out':
      return [];
    default:
      return end(recording, verdict);
  }
}

/** Verdicts that end a session whatever was asked (docs/contract/platform.md#ends-of-a-session). */
function end(
  recording: Recording<unknown>,
  verdict: Ending | { readonly kind: 'unintelligible' },
): readonly SessionEvent[] {
  const { attemptId } = recording;
  switch (verdict.kind) {
    case 'session-over':
      return [{ type: 'SessionExpired', data: { cause: 'VENDOR_SESSION_OVER' } }];
    case 'refused':
      return [{ type: 'SessionBlocked', data: { attemptId, reasonCode: verdict.reason, blockedUntil: null } }];
    case 'locked':
      return [tooManyAttempts(recording, verdict.unblockAt)];
    case 'unintelligible':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'VENDOR_UNINTELLIGIBLE' } }];
    default:
      return verdict satisfies never;
  }
}

function rejection(
  method: 'otp' | 'kba',
  attemptId: string,
  attemptsRemaining: number,
  expiresAt: string,
): SessionEvent {
  const data = { attemptId, attemptsRemaining, expiresAt };
  return method === 'otp' ? { type: 'OtpRejected', data } : { type: 'KbaRejected', data };
}

function tooManyAttempts({ now, attemptId, policy }: Recording<unknown>, unblockAt: string | null): SessionEvent {
  return {
    type: 'SessionBlocked',
    data: { attemptId, reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: unblockAt ?? after(now, policy.blockSeconds) },
  };
}

export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}
