import type { Owner } from '../kernel/context.js';
import type { RateUse } from '../kernel/rate-use.js';

/**
 * Persons known to the identity vendor, for modules that authenticate them again. Keyed ids name a person, and may be stored. One
 * comes from the session that confirmed the person, another from the vendor's token. Answers count under each (see answer-counts.ts).
 */
export abstract class KnownPersons {
  /** `sessionId` is null for a token that came from no session of this service. */
  abstract idsOf(sessionId: string | null, token: string, owner: Owner): Promise<readonly string[]>;

  /**
   * The limits that one more code to the person uses. It counts with all codes to the phone of the session that confirmed the person.
   * Without such a session only the vendor knows the phone. The code then counts with all codes under the ids of the person.
   */
  abstract codesTo(sessionId: string | null, personIds: readonly string[], owner: Owner): Promise<readonly RateUse[]>;

  /** From now on the vendor knows the person of this confirmed session by this token. */
  abstract keepToken(sessionId: string, token: string): Promise<void>;
}
