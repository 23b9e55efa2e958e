import type { CallerContext } from '../kernel/context.js';

/** Whom the direct API knows by an id of the integrator. */
export type PartyKind = 'renter' | 'agent' | 'organization';

/** What other modules may know of a party. Times are ISO 8601 UTC. */
export interface PartyFacts {
  /** Ours: a keyed hash of account, environment, kind and the integrator's id, which is stored nowhere. */
  readonly partyId: string;
  readonly kind: PartyKind;
  /** Screening sessions of its registrations, newest last, bounded; the newest was opened. Empty for an organization that only has a stored token. */
  readonly sessionIds: readonly string[];
  /** Whether its identity is confirmed now: not longer ago than `REAUTH_VALIDITY`, not expired by hand, and the person not erased. */
  readonly authenticated: boolean;
  /** Until when wrong answers lock it out; null when they do not now. */
  readonly lockedUntil: string | null;
}

/** The parties module as others see it. */
export abstract class Parties {
  /** Null for one that was never registered in this account and environment. `id` is the integrator's, as decoded from the path. */
  abstract find(kind: PartyKind, id: string, context: CallerContext): Promise<PartyFacts | null>;
}
