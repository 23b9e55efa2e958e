// What a vendor's verdict means for whoever holds the challenge: facts, which each holder records in events of its own.
import { after, type AnswerLimit } from './answer-limit.js';
import type { Operation, QuestionShape } from './challenge.js';

export type RefusalReason =
  'IDENTITY_NOT_FOUND' | 'FRAUD_REPORTED' | 'SANCTIONS_MATCH' | 'ALERT_LIST_MATCH' | 'DECEASED' | 'MINOR_CONSUMER';

/** Verdicts that end a challenge whatever was asked; `person-erased`: what the vendor said can be kept no more. */
export type Ending =
  | { readonly kind: 'session-over' }
  | { readonly kind: 'refused-otherwise' }
  | { readonly kind: 'unintelligible' }
  | { readonly kind: 'person-erased' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

/** The parts of a vendor's verdict that the domain decides by: no token, no texts. */
export type Verdict =
  | Ending
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'sent' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'step-up'; readonly otp: boolean; readonly questions: readonly QuestionShape[] }
  | { readonly kind: 'wrong'; readonly attemptsRemaining: number | null }
  | { readonly kind: 'locked'; readonly unblockAt: string | null };

export type Fact =
  | { readonly kind: 'confirmed' | 'code-sent' | 'abandoned' }
  | { readonly kind: 'opened'; readonly otp: boolean; readonly questions: readonly QuestionShape[] }
  | { readonly kind: 'rejected'; readonly attemptsRemaining: number }
  /** ISO 8601 UTC. */
  | { readonly kind: 'locked'; readonly lockedUntil: string }
  | { readonly kind: 'over'; readonly ending: Ending };

/** How the person stands in all challenges together, this answer included (docs/contract/platform.md#wrong-answers-of-a-person). */
export interface Standing {
  /** ISO 8601 UTC; null while the person is not locked out. */
  readonly lockedUntil: string | null;
  readonly attemptsRemaining: number;
}

/** What the holder has counted before this answer. */
export interface Count {
  /** Wrong answers that would not lock yet, and the one that would. */
  readonly attemptsLeft: number;
  /** Whether a vendor that counts more attempts than the holder is believed. */
  readonly vendorMayAdd: boolean;
}

export interface RecordVerdict<Limit extends AnswerLimit = AnswerLimit> {
  readonly kind: 'record-verdict';
  readonly now: Date;
  readonly attemptId: string;
  readonly verdict: Verdict;
  readonly policy: Limit;
  /** Null for a call that is no answer, and of a person whom nothing names. */
  readonly standing: Standing | null;
}

/** `null` stands for the call that asks for the challenge. */
export function isAnswer(operation: Operation | null): operation is 'otp' | 'kba' {
  return operation === 'otp' || operation === 'kba';
}

/**
 * A verdict that does not fit what was asked says nothing, like one that is not there yet: the call stays with the vendor until the
 * recovery job has asked.
 */
export function factsOf(
  { now, verdict, policy, standing }: Omit<RecordVerdict, 'kind' | 'attemptId'>,
  operation: Operation | null,
  count: Count,
): readonly Fact[] {
  // The lock of the person is that of the holder too, also where the verdict is recorded later than it was counted.
  const lockedUntil = standing?.lockedUntil ?? lockBy(verdict, now, policy, isAnswer(operation) ? count : null);
  const lock: readonly Fact[] = lockedUntil === null ? [] : [{ kind: 'locked', lockedUntil }];
  switch (verdict.kind) {
    case 'step-up':
      return operation === null ? [{ kind: 'opened', otp: verdict.otp, questions: verdict.questions }] : [];
    case 'confirmed':
      // Right, but too late: meanwhile other answers have locked the person.
      if (lock.length > 0) return lock;
      return operation === 'otp-resend' ? [] : [{ kind: 'confirmed' }];
    case 'sent':
      return operation === 'otp-resend' ? [{ kind: 'code-sent' }] : [];
    case 'wrong': {
      if (!isAnswer(operation)) return [];
      const left = lock.length > 0 ? 0 : Math.min(leftAfter(verdict, count), standing?.attemptsRemaining ?? Infinity);
      const last: Fact = { kind: 'locked', lockedUntil: lockedUntil ?? after(now, policy.lockSeconds) };
      return [{ kind: 'rejected', attemptsRemaining: left }, ...(left === 0 ? [last] : [])];
    }
    case 'locked':
      return isAnswer(operation) ? [{ kind: 'rejected', attemptsRemaining: 0 }, ...lock] : lock;
    case 'unavailable':
      return [{ kind: 'abandoned' }];
    case 'timed-out':
      return [];
    default:
      return [{ kind: 'over', ending: verdict }];
  }
}

/** Until when the verdict itself locks, by the vendor's word or by the holder's own count; null when it does not. `count`: null for what is no answer. */
export function lockBy(verdict: Verdict, now: Date, { lockSeconds }: AnswerLimit, count: Count | null): string | null {
  const own = after(now, lockSeconds);
  if (verdict.kind === 'wrong') return count !== null && leftAfter(verdict, count) === 0 ? own : null;
  if (verdict.kind !== 'locked') return null;
  // With an answer, the lock is the vendor's way to say that it was wrong. A last one that the holder itself counts locks for as long as ever.
  return count !== null && !count.vendorMayAdd && count.attemptsLeft <= 1 ? own : (verdict.unblockAt ?? own);
}

/** The vendor's count wins where it may (docs/contract/platform.md#codes-and-answers), but attempts that are gone do not come back. */
function leftAfter(
  { attemptsRemaining }: Extract<Verdict, { kind: 'wrong' }>,
  { attemptsLeft, vendorMayAdd }: Count,
): number {
  const most = vendorMayAdd ? attemptsLeft : attemptsLeft - 1;
  return Math.max(0, Math.min(attemptsRemaining ?? attemptsLeft - 1, most));
}

/**
 * Whether the call has used up what was counted for it beforehand: a wrong answer, or a code that may have been sent. True where that is
 * not known.
 */
export function wasUsed(verdict: Verdict, operation: Operation | null): boolean {
  if (isAnswer(operation)) return verdict.kind === 'wrong' || verdict.kind === 'locked' || verdict.kind === 'timed-out';
  if (verdict.kind === 'step-up') return verdict.otp;
  return verdict.kind === 'sent' || verdict.kind === 'unintelligible' || verdict.kind === 'timed-out';
}
