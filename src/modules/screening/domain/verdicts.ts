// Turns a vendor's verdict into events of a session. Pure. Only the session's decider calls it.
import { after, type AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import {
  factsOf,
  type Count,
  type Ending,
  type Fact,
  type RecordVerdict,
  type Verdict,
} from '../../../challenges/domain/verdict.js';
import { nextQuery } from '../../../kernel/growing-pause.js';
import type { RefusedInput } from '../../../kernel/refused-input.js';
import { operationOf, type Attempt, type Review, type SessionEvent, type StepUp } from './session.js';

/** The parts of a vendor's verdict that the domain needs. These parts contain no token and no texts. */
export type RegistrationVerdict =
  | (Extract<Verdict, { readonly kind: 'confirmed' | 'step-up' }> & { readonly duplicateGuard: boolean })
  | { readonly kind: 'input-refused'; readonly input: RefusedInput }
  | { readonly kind: 'report-expired' | 'product-not-enabled' }
  | { readonly kind: 'under-review'; readonly lookAgainAfter: number }
  /** `until`: the vendor's end of the round, ISO 8601 UTC. */
  | { readonly kind: 'needs-user'; readonly until: string }
  | Exclude<Verdict, { readonly kind: 'confirmed' | 'step-up' | 'sent' | 'wrong' }>;

export interface VerdictPolicy extends AnswerLimit {
  readonly stepUpTtlSeconds: number;
  /** The longest review by people at the vendor, and the longest time for the person's rounds there. */
  readonly reviewSeconds: number;
}

export interface RecordRegistration {
  readonly kind: 'record-registration';
  readonly now: Date;
  readonly attemptId: string;
  readonly verdict: RegistrationVerdict;
  readonly policy: VerdictPolicy;
}

export function recordRegistration(
  recording: RecordRegistration,
  attempt: Attempt,
  review: Review | null,
): readonly SessionEvent[] {
  const { now, verdict, policy } = recording;
  const { attemptId } = attempt;
  switch (verdict.kind) {
    case 'input-refused':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'INPUT_REFUSED', refusedInput: verdict.input } }];
    case 'report-expired':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'REPORT_EXPIRED' } }];
    case 'product-not-enabled':
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'PRODUCT_NOT_ENABLED' } }];
    case 'under-review': {
      const { lookAgainAfter } = verdict;
      if (review !== null && !review.userActs) return [lookLater(now, attempt, review, lookAgainAfter)];
      const startedAt = now.toISOString();
      const reviewUntil = after(now, policy.reviewSeconds);
      const lookAgainAt = nextQuery(now, { since: startedAt, until: reviewUntil }, lookAgainAfter);
      return [{ type: 'ReviewStarted', data: { attemptId, startedAt, reviewUntil, lookAgainAt } }];
    }
    case 'needs-user':
      return [sendToVendor(recording, verdict.until, review)];
    case 'unavailable':
      // The attempt was made again with the input that Redis kept. The vendor may have executed the first try, so the recovery job asks the vendor.
      if (review !== null || now >= new Date(attempt.settleAfter)) return [];
      return [{ type: 'SessionErrored', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
    default:
      // A call that timed out has no known result. The session stays SUBMITTED until the recovery job asks
      // (docs/contract/platform.md#waiting-for-the-vendor).
      return factsOf({ now, verdict, policy, standing: null }, null, { attemptsLeft: 0, vendorMayAdd: true }).map(
        (fact) => eventOf(fact, recording, attempt, 'duplicateGuard' in verdict && verdict.duplicateGuard),
      );
  }
}

/** A round of the person at the vendor. A vendor that still waits after the round has not got the person's answer in time. */
function sendToVendor(
  { now, attemptId, policy }: RecordRegistration,
  wanted: string,
  review: Review | null,
): SessionEvent {
  const startedAt = review?.userActs ? review.startedAt : now.toISOString();
  const latest = after(new Date(startedAt), policy.reviewSeconds);
  const until = wanted < latest ? wanted : latest;
  if (now >= new Date(until)) return { type: 'SessionExpired', data: { cause: 'NO_ANSWER' } };
  const lookAgainAt = nextQuery(now, { since: startedAt, until }, 0);
  return review?.userActs && review.until === until
    ? { type: 'ReviewContinued', data: { attemptId, lookAgainAt } }
    : { type: 'PersonSentToVendor', data: { attemptId, startedAt, until, lookAgainAt } };
}

/** The vendor has not decided when it was asked again. The review ends with its time. */
export function lookLater(now: Date, { attemptId }: Attempt, review: Review, lookAgainAfter: number): SessionEvent {
  return now >= new Date(review.until)
    ? { type: 'SessionExpired', data: { cause: review.userActs ? 'NO_ANSWER' : 'NOT_REVIEWED' } }
    : {
        type: 'ReviewContinued',
        data: {
          attemptId,
          lookAgainAt: nextQuery(now, { since: review.startedAt, until: review.until }, lookAgainAfter),
        },
      };
}

/** Records the vendor's verdict on an answer or on a request for another code. */
export function recordVerdict(
  recording: RecordVerdict<VerdictPolicy>,
  attempt: Attempt,
  stepUp: StepUp,
): readonly SessionEvent[] {
  return factsOf(recording, operationOf(attempt), countOf(stepUp)).map((fact) => eventOf(fact, recording, attempt));
}

/** If the vendor gives a number of remaining attempts, that number is used (docs/contract/platform.md#codes-and-answers). */
export function countOf({ attemptsRemaining }: StepUp): Count {
  return { attemptsLeft: attemptsRemaining, vendorMayAdd: true };
}

function eventOf(
  fact: Fact,
  { now, policy }: Pick<RecordRegistration, 'now' | 'policy'>,
  { attemptId, operation }: Attempt,
  duplicateGuard = false,
): SessionEvent {
  switch (fact.kind) {
    case 'confirmed':
      return { type: 'IdentityVerified', data: { attemptId, verifiedAt: now.toISOString(), duplicateGuard } };
    case 'opened': {
      const { otp, questions } = fact;
      const methods = [...(otp ? ['OTP' as const] : []), ...(questions.length > 0 ? ['KBA' as const] : [])];
      if (methods.length === 0) return endOf({ kind: 'unintelligible' }, attemptId);
      const { attemptsAllowed, stepUpTtlSeconds } = policy;
      const [expiresAt, smsSentAt] = [after(now, stepUpTtlSeconds), otp ? now.toISOString() : null];
      return {
        type: 'StepUpRequired',
        data: { attemptId, methods, questions, attemptsAllowed, expiresAt, smsSentAt, duplicateGuard },
      };
    }
    case 'code-sent':
      return { type: 'OtpResent', data: { attemptId, smsSentAt: now.toISOString() } };
    case 'rejected': {
      const expiresAt = after(now, policy.stepUpTtlSeconds);
      const data = { attemptId, attemptsRemaining: fact.attemptsRemaining, expiresAt };
      return operation === 'otp' ? { type: 'OtpRejected', data } : { type: 'KbaRejected', data };
    }
    case 'locked': {
      const { lockedUntil: blockedUntil } = fact;
      return { type: 'SessionBlocked', data: { attemptId, reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil } };
    }
    case 'abandoned':
      return { type: 'AttemptAbandoned', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } };
    case 'over':
      return endOf(fact.ending, attemptId);
    default:
      return fact satisfies never;
  }
}

/** The event for a verdict that ends a session at any step (docs/contract/platform.md#ends-of-a-session). */
function endOf(ending: Ending, attemptId: string): SessionEvent {
  switch (ending.kind) {
    case 'session-over':
      return { type: 'SessionExpired', data: { cause: 'VENDOR_SESSION_OVER' } };
    case 'person-erased':
      return { type: 'SessionExpired', data: { cause: 'PERSON_ERASED' } };
    case 'refused':
      return { type: 'SessionBlocked', data: { attemptId, reasonCode: ending.reason, blockedUntil: null } };
    case 'unintelligible':
    case 'refused-otherwise':
      return { type: 'SessionErrored', data: { attemptId, cause: 'VENDOR_UNINTELLIGIBLE' } };
    default:
      return ending satisfies never;
  }
}
