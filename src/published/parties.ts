import type { CallerContext } from '../kernel/context.js';

/** The kinds of parties that an integrator identifies on the direct API by an id of its own. */
export type PartyKind = 'renter' | 'agent' | 'organization';

/** The facts about a party that other modules may use. Times are ISO 8601 UTC. */
export interface PartyFacts {
  /** The service's own id: a keyed hash of account, environment, kind and the integrator's id. The integrator's id is never stored. */
  readonly partyId: string;
  readonly kind: PartyKind;
  /**
   * The screening sessions of the party's registrations. The newest is last and was opened, and the length is limited. Empty for an organization that
   * has only a stored token.
   */
  readonly sessionIds: readonly string[];
  /**
   * Whether the party's identity was confirmed within `REAUTH_VALIDITY`, the integrator has not ended the confirmation since, and the person was not
   * erased.
   */
  readonly authenticated: boolean;
  /** The end of the party's lock after wrong answers; null if it is not locked now. */
  readonly lockedUntil: string | null;
}

/** The parties module, for other modules. */
export abstract class Parties {
  /** Null if the party was never registered in this account and environment. `id` is the integrator's id, decoded from the path. */
  abstract find(kind: PartyKind, id: string, context: CallerContext): Promise<PartyFacts | null>;
}
