// Turns a vendor's verdict into facts. Each holder of a challenge records them in events of its own.
import type { RefusalReason } from '../../kernel/refused-input.js';
import { after, type AnswerLimit } from './answer-limit.js';
import type { Operation, QuestionShape } from './challenge.js';

/** Verdicts that end a challenge after any call. `person-erased`: the vault no longer has the key of the person. */
export type Ending =
  | { readonly kind: 'session-over' }
  | { readonly kind: 'refused-otherwise' }
  | { readonly kind: 'unintelligible' }
  | { readonly kind: 'person-erased' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

/** The parts of a vendor's verdict that the domain needs. These parts contain no token and no texts. */
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

/** The state of the person over all challenges, after this answer (docs/contract/platform.md#wrong-answers-of-a-person). */
export interface Standing {
  /** ISO 8601 UTC; null while the person is not locked. */
  readonly lockedUntil: string | null;
  readonly attemptsRemaining: number;
}

/** The holder's count before this answer. */
export interface Count {
  /** The number of further wrong answers after which the holder locks. */
  readonly attemptsLeft: number;
  /** Whether the vendor may decide that this wrong answer uses up no attempt. */
  readonly vendorMayAdd: boolean;
}

export interface RecordVerdict<Limit extends AnswerLimit = AnswerLimit> {
  readonly kind: 'record-verdict';
  readonly now: Date;
  readonly attemptId: string;
  readonly verdict: Verdict;
  readonly policy: Limit;
  /** Null for a call that is not an answer. */
  readonly standing: Standing | null;
}

/** `null` is the call that requests the challenge. */
export function isAnswer(operation: Operation | null): operation is 'otp' | 'kba' {
  return operation === 'otp' || operation === 'kba';
}

/** A verdict that does not fit the call gives no fact. The call stays open until the recovery job has asked the vendor. */
export function factsOf(
  { now, verdict, policy, standing }: Omit<RecordVerdict, 'kind' | 'attemptId'>,
  operation: Operation | null,
  count: Count,
): readonly Fact[] {
  // The holder uses the end of the person's lock. The holder's own lock would end later, because it records the verdict after the person's count.
  const lockedUntil = standing?.lockedUntil ?? lockBy(verdict, now, policy, isAnswer(operation) ? count : null);
  const lock: readonly Fact[] = lockedUntil === null ? [] : [{ kind: 'locked', lockedUntil }];
  switch (verdict.kind) {
    case 'step-up':
      return operation === null ? [{ kind: 'opened', otp: verdict.otp, questions: verdict.questions }] : [];
    case 'confirmed':
      // The answer is right, but other answers have locked the person in the meantime.
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

/** The end of the lock that the vendor or the holder's own count sets; null without a lock. `count` is null for a call that is not an answer. */
export function lockBy(verdict: Verdict, now: Date, { lockSeconds }: AnswerLimit, count: Count | null): string | null {
  const own = after(now, lockSeconds);
  if (verdict.kind === 'wrong') return count !== null && leftAfter(verdict, count) === 0 ? own : null;
  if (verdict.kind !== 'locked') return null;
  // A lock means that the answer was wrong. The last wrong answer of a holder with a count of its own locks for the holder's own time.
  return count !== null && !count.vendorMayAdd && count.attemptsLeft <= 1 ? own : (verdict.unblockAt ?? own);
}

/** The vendor's count decides (docs/contract/platform.md#codes-and-answers), but it never restores attempts that were used before. */
function leftAfter(
  { attemptsRemaining }: Extract<Verdict, { kind: 'wrong' }>,
  { attemptsLeft, vendorMayAdd }: Count,
): number {
  const most = vendorMayAdd ? attemptsLeft : attemptsLeft - 1;
  return Math.max(0, Math.min(attemptsRemaining ?? attemptsLeft - 1, most));
}

/** Whether the call used its limits, by a wrong answer or a code that may have been sent. True if this is unknown. */
export function wasUsed(verdict: Verdict, operation: Operation | null): boolean {
  if (isAnswer(operation)) return verdict.kind === 'wrong' || verdict.kind === 'locked' || verdict.kind === 'timed-out';
  if (verdict.kind === 'step-up') return verdict.otp;
  return verdict.kind === 'sent' || verdict.kind === 'unintelligible' || verdict.kind === 'timed-out';
}
