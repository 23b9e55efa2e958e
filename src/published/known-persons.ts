import type { Owner } from '../kernel/context.js';
import type { RateUse } from '../kernel/rate-use.js';

/**
 * Persons whom the identity vendor knows, for modules that have them authenticated again. A person is named by keyed ids, which may be
 * stored: the one behind the session that confirmed them, and the one whom the vendor's token names. Answers count under each
 * (see answer-counts.ts).
 */
export abstract class KnownPersons {
  /** `sessionId` is null for a token that no session of ours was given. */
  abstract idsOf(sessionId: string | null, token: string, owner: Owner): Promise<readonly string[]>;

  /**
   * What one more code to the person uses: counted with all others to the phone of the session that confirmed them. Whose phone it is where
   * there is none, only the vendor knows: then with the others to whom the token names.
   */
  abstract codesTo(sessionId: string | null, personIds: readonly string[], owner: Owner): Promise<readonly RateUse[]>;

  /** The vendor knows the person of a confirmed session by this token from now on. */
  abstract keepToken(sessionId: string, token: string): Promise<void>;
}
