import type { CallerContext } from '../kernel/context.js';

/** The kinds of parties that the direct API knows by an id of the integrator. */
export type PartyKind = 'renter' | 'agent' | 'organization';

/** The facts about a party that other modules may know. Times are ISO 8601 UTC. */
export interface PartyFacts {
  /** Our own id: a keyed hash of account, environment, kind and the integrator's id. The integrator's id is stored nowhere. */
  readonly partyId: string;
  readonly kind: PartyKind;
  /**
   * The screening sessions of its registrations, newest last, bounded. The newest was opened. Empty for an organization that has only a
   * stored token.
   */
  readonly sessionIds: readonly string[];
  /** Whether its identity was confirmed within `REAUTH_VALIDITY`, was not expired by hand since, and the person was not erased. */
  readonly authenticated: boolean;
  /** The end of its lock after wrong answers; null when it is not locked now. */
  readonly lockedUntil: string | null;
}

/** The parties module, for other modules. */
export abstract class Parties {
  /** Null when the party was never registered in this account and environment. `id` is the integrator's, as decoded from the path. */
  abstract find(kind: PartyKind, id: string, context: CallerContext): Promise<PartyFacts | null>;
}
