import type { ActionContext } from '../kernel/context.js';

/** So many wrong answers within so many seconds lock a person for as long. */
export interface CountedLimit {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** A code or answers to a challenge. */
export interface CountedAnswer {
  readonly attemptId: string;
  /** The session or party that it is given for. */
  readonly holderId: string;
  readonly limit: CountedLimit;
  readonly context: ActionContext;
}

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'locked'; readonly lockedUntil: string }
  /** Answers of theirs are with the vendor that may use up what is left. */
  | { readonly kind: 'others-first' };

/** How a person stands after an answer. */
export interface PersonStanding {
  /** Until when wrong answers lock the person out; null when they do not. */
  readonly lockedUntil: string | null;
  /** Wrong answers that would not lock the person yet, and the one that would. */
  readonly attemptsRemaining: number;
}

/**
 * Counts answers against persons, over all screening sessions and parties (docs/contract/platform.md#wrong-answers-of-a-person). A person
 * is named by keyed ids, which may be stored. An answer counts under each of them, and a lock under any of them locks the person.
 * Whatever locks a person ends their open sessions. All of it is safe to repeat. Times are ISO 8601 UTC.
 */
export abstract class AnswerCounts {
  /** Until when wrong answers lock the person out of everything; null when they do not now. */
  abstract lockedUntil(personIds: readonly string[]): Promise<string | null>;

  /** Before the vendor is asked. Until `giveUpAfter`, or until it is counted or cleared, it takes up one of the attempts. */
  abstract admit(personIds: readonly string[], answer: CountedAnswer, giveUpAfter: Date): Promise<Admission>;

  /** The answer was wrong. `lockedUntil`: when it locks by itself; null leaves that to the count. */
  abstract countWrong(
    personIds: readonly string[],
    answer: CountedAnswer,
    lockedUntil: string | null,
  ): Promise<PersonStanding>;

  /** The answer was right, or the vendor did not judge it. */
  abstract clear(personIds: readonly string[], answer: CountedAnswer): Promise<PersonStanding>;

  /** The vendor has locked the person, in a call that was no answer. */
  abstract lock(personIds: readonly string[], call: CountedAnswer, lockedUntil: string): Promise<void>;
}
