import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPlace, VaultPromise } from '../../../kernel/vault-promise.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { challengeEntry, replyEntry, tokenEntry, type PartyEvent } from '../domain/party.js';
import { party } from '../domain/party-decider.js';

/** The stored token is kept until it is erased. The vendor's session is kept while its challenge is open. */
export const PARTY_SECRETS: readonly VaultPromise[] = [
  {
    category: party.category,
    type: 'VendorTokenStored' satisfies PartyEvent['type'],
    place: (event) => placeOf(event, tokenEntry),
    until: [],
  },
  {
    category: party.category,
    type: 'ReauthenticationChallenged' satisfies PartyEvent['type'],
    place: (event) => placeOf(event, challengeEntry),
    until: [
      'PartyRegistered',
      'ReauthenticationRequested',
      'PartyReauthenticated',
      'PartyLocked',
      'ReauthenticationEnded',
    ] satisfies PartyEvent['type'][],
  },
];

function placeOf(event: RecordedEvent, entryOf: (partyId: string) => string): VaultPlace {
  const { data } = event as RecordedEvent &
    Extract<PartyEvent, { type: 'VendorTokenStored' | 'ReauthenticationChallenged' }>;
  return { subject: data.subjectId, entry: entryOf(idOf(event.stream)) };
}

/** The result of an attempt: the kind of the vendor's verdict, and its answer if it gave one. */
export interface Answered {
  readonly kind: string;
  readonly reply: VendorReply | null;
}

/** The vault for parties. `erased` means that the data key of the party's person was destroyed. */
@Injectable()
export class PartySecrets {
  constructor(private readonly vault: Vault) {}

  isErased(subjectId: string): Promise<boolean> {
    return isErased(this.vault, subjectId);
  }

  keepToken(subjectId: string, partyId: string, token: string): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, tokenEntry(partyId), { token });
  }

  async token(subjectId: string, partyId: string): Promise<string | null> {
    const kept = await readEntry<{ readonly token: string }>(this.vault, subjectId, tokenEntry(partyId));
    return kept === null || kept === 'erased' ? null : kept.token;
  }

  keepChallenge(subjectId: string, partyId: string, vendorSession: string): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, challengeEntry(partyId), { vendorSession });
  }

  /** The vendor's session of an open challenge; null if the person was erased. */
  async challenge(subjectId: string, partyId: string): Promise<string | null> {
    const kept = await readEntry<{ readonly vendorSession: string }>(this.vault, subjectId, challengeEntry(partyId));
    if (kept === null) throw new Error(`Party ${partyId} has a challenge but no vendor session`);
    return kept === 'erased' ? null : kept.vendorSession;
  }

  forgetChallenge(subjectId: string, partyId: string): Promise<void> {
    return this.vault.remove(subjectId, challengeEntry(partyId));
  }

  keepAnswer(subjectId: string, partyId: string, attemptId: string, answered: Answered): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, replyEntry(partyId, attemptId), answered);
  }

  /** Null if the vendor gave no answer, when the answer is no longer kept, and if the person was erased. */
  async answer(subjectId: string, partyId: string, attemptId: string): Promise<Answered | null> {
    const kept = await readEntry<Answered>(this.vault, subjectId, replyEntry(partyId, attemptId));
    return kept === 'erased' ? null : kept;
  }

  forgetAnswer(subjectId: string, partyId: string, attemptId: string): Promise<void> {
    return this.vault.remove(subjectId, replyEntry(partyId, attemptId));
  }
}
