import type { ActionContext, Owner } from '../kernel/context.js';
import type { RateUse } from '../kernel/rate-use.js';

/** So many wrong answers within so many seconds lock a person for as long. */
export interface KnownAnswerLimit {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** A code or answers by which somebody authenticates again. */
export interface KnownAnswer {
  readonly attemptId: string;
  /** Who gives it; see `PartyFacts.partyId`. */
  readonly partyId: string;
  readonly limit: KnownAnswerLimit;
  readonly context: ActionContext;
}

export type KnownAdmission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'locked'; readonly lockedUntil: string }
  /** Answers of theirs are with the vendor that may use up what is left. */
  | { readonly kind: 'others-first' };

/** How a person stands after an answer. */
export interface KnownStanding {
  /** Until when wrong answers lock the person out; null when they do not. */
  readonly lockedUntil: string | null;
  /** Wrong answers that would not lock the person yet, and the one that would. */
  readonly attemptsRemaining: number;
}

/**
 * Persons whom the identity vendor knows, for modules that have them authenticated again. What is wrong counts against the
 * person, with the answers of all screening sessions, however many names the person is given elsewhere. A person is named by keyed
 * ids, which may be stored: the one behind the session that confirmed them, and the one whom the vendor's token names. An answer counts against each.
 * Times are ISO 8601 UTC.
 */
export abstract class KnownPersons {
  /** `sessionId` is null for a token that no session of ours was given. */
  abstract idsOf(sessionId: string | null, token: string, owner: Owner): Promise<readonly string[]>;

  /** Until when wrong answers lock the person out of everything; null when they do not now. */
  abstract lockedUntil(personIds: readonly string[]): Promise<string | null>;

  /** Before the vendor is asked. Until `giveUpAfter`, or until it is counted or cleared, it takes up one of the attempts. */
  abstract admit(personIds: readonly string[], answer: KnownAnswer, giveUpAfter: Date): Promise<KnownAdmission>;

  /**
   * Counts a wrong answer, which also ends the person's open sessions when it locks the person. `lockedUntil`: when it locks by itself;
   * null leaves that to the count. Safe to repeat.
   */
  abstract countWrong(
    personIds: readonly string[],
    answer: KnownAnswer,
    lockedUntil: string | null,
  ): Promise<KnownStanding>;

  /**
   * What one more code to the person uses: counted with all others to the phone of the session that confirmed them. Whose phone it is where
   * there is none, only the vendor knows: then with the others to whom the token names.
   */
  abstract codesTo(sessionId: string | null, personIds: readonly string[], owner: Owner): Promise<readonly RateUse[]>;

  /** The vendor knows the person of a confirmed session by this token from now on. */
  abstract keepToken(sessionId: string, token: string): Promise<void>;

  /** The answer was right, or the vendor did not judge it. */
  abstract clear(personIds: readonly string[], answer: KnownAnswer): Promise<KnownStanding>;
}
