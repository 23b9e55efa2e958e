// Finds the parties that have an open call to the identity vendor, and those whose replies the vault may still keep. Parties have no other read
// model.
import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, listOf, openCall, openCallsIn, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import type { PartyEvent, PartyState } from '../domain/party.js';
import { party } from '../domain/party-decider.js';

interface Followed {
  readonly environment: Environment;
  readonly party: PartyState;
}

export interface PartyCalls {
  /** The attempt that is at the vendor; null if none exists. */
  readonly attemptId: string | null;
}

/** Parties for which the vault may still keep replies of the vendor, sorted by the `settleAfter` of the oldest reply. */
const REPLIES_HELD = listOf({ partyReplies: 'held' });

export const partyCalls: Projection<PartyCalls, Followed> = {
  name: 'party_calls',
  version: 4,
  category: party.category,

  evolve(followed, event) {
    const { environment } = event.metadata;
    if (environment === null) throw new Error(`${event.stream} belongs to no environment`);
    return { environment, party: party.evolve(followed?.party ?? party.initial, known(event)) };
  },

  view: ({ party: { attempt } }) => ({ attemptId: attempt?.attemptId ?? null }),
  entries: ({ environment, party: { attempt, replies } }) => {
    const oldest = replies.find(({ attemptId }) => attemptId !== attempt?.attemptId);
    return [
      ...(attempt === null ? [] : [openCall(environment, attempt.settleAfter)]),
      ...(oldest === undefined ? [] : [{ list: REPLIES_HELD, sort: oldest.settleAfter }]),
    ];
  },
};

const known = exhaustiveEvents<PartyEvent>('party_calls', {
  PartyRegistered: true,
  VendorTokenStored: true,
  VendorTokenErased: true,
  ReauthenticationRequested: true,
  ReauthenticationChallenged: true,
  ReauthenticationAnswerReceived: true,
  ReauthenticationRejected: true,
  ReauthenticationCodeRequested: true,
  ReauthenticationCodeSent: true,
  PartyReauthenticated: true,
  PartyLocked: true,
  PartyUnlocked: true,
  ReauthenticationAbandoned: true,
  ReauthenticationEnded: true,
  PartyRepliesDiscarded: true,
  AuthenticationExpired: true,
});

@Injectable()
export class PartyCallsReader {
  constructor(private readonly readModels: ReadModels) {}

  /** Parties for which the vault may still keep replies to calls whose time limit had passed at `until`. */
  holdingReplies(until: Date, limit: number): Promise<string[]> {
    return this.readModels.due(partyCalls, until, limit, { list: REPLIES_HELD });
  }

  /** Parties whose open call is so old that the vendor must be asked about it. */
  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(partyCalls, at, limit, { list: openCallsIn(environment) });
  }
}
