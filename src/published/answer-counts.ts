import type { ActionContext, Owner } from '../kernel/context.js';

/** `attemptsAllowed` wrong answers within `lockSeconds` lock a person for `lockSeconds`. */
export interface CountedLimit {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** A code for a challenge, or answers to its questions. */
export interface CountedAnswer {
  readonly attemptId: string;
  /** The session or party to which the challenge belongs. */
  readonly holderId: string;
  readonly limit: CountedLimit;
  readonly context: ActionContext;
}

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'locked'; readonly lockedUntil: string }
  /** Other answers of the person are at the vendor and may use up the remaining attempts. */
  | { readonly kind: 'others-first' };

/** The state of a person after an answer. */
export interface PersonStanding {
  /** The end of the person's lock; null if the person is not locked. */
  readonly lockedUntil: string | null;
  /** The number of further wrong answers after which the person is locked. */
  readonly attemptsRemaining: number;
}

/**
 * Counts the wrong answers of each person over all screening sessions and parties (docs/contract/platform.md#wrong-answers-of-a-person). Keyed ids
 * name a person, and may be stored. An answer counts under each of these ids, and a lock under any of them locks the person. A lock ends the person's
 * open sessions. All calls are safe to repeat. Times are ISO 8601 UTC.
 */
export abstract class AnswerCounts {
  /** The end of the lock that refuses the person everywhere; null if the person is not locked now. */
  abstract lockedUntil(personIds: readonly string[], owner: Owner): Promise<string | null>;

  /** Must be called before the vendor receives the answer. The answer uses up one attempt until it is counted or cleared, or until `giveUpAfter`. */
  abstract admit(personIds: readonly string[], answer: CountedAnswer, giveUpAfter: Date): Promise<Admission>;

  /** The answer was wrong. `lockedUntil` locks the person until that time, at any count. With null, only the count decides. */
  abstract countWrong(
    personIds: readonly string[],
    answer: CountedAnswer,
    lockedUntil: string | null,
  ): Promise<PersonStanding>;

  /** The answer was right, or the vendor did not judge it. */
  abstract clear(personIds: readonly string[], answer: CountedAnswer): Promise<PersonStanding>;

  /** The vendor has locked the person in a call that was not an answer. */
  abstract lock(personIds: readonly string[], call: CountedAnswer, lockedUntil: string): Promise<void>;
}
