import type { Owner } from '../kernel/context.js';
import type { RateUse } from '../kernel/rate-use.js';

/**
 * Persons known to the identity vendor, for modules that authenticate them again. Keyed ids name a person, and may be stored. The first id is made
 * from the session that confirmed the person, the second from the vendor's token. Answers count under both (see answer-counts.ts).
 */
export abstract class KnownPersons {
  /** `sessionId` is null for a token that came from no session of this service. */
  abstract idsOf(sessionId: string | null, token: string, owner: Owner): Promise<readonly string[]>;

  /**
   * The limits for which one more code to the person counts. The code counts for the limits of the phone in the session that confirmed the person.
   * Without such a session, only the vendor knows the phone, and the code counts for limits of the person's ids.
   */
  abstract codesTo(sessionId: string | null, personIds: readonly string[], owner: Owner): Promise<readonly RateUse[]>;

  /** From now on the vendor knows the person of this confirmed session by this token. */
  abstract keepToken(sessionId: string, token: string): Promise<void>;
}
