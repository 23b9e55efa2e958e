import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPlace, VaultPromise } from '../../../kernel/vault-promise.js';
import type { RefusalReason } from '../../../kernel/refused-input.js';
import type { Replied, VendorReply } from '../../../kernel/vendor-reply.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { Vendors } from '../../../ports/vendors.js';
import type { AskedQuestion } from '../../../published/verifications.js';
import { challengeEntry, replyEntry, tokenEntry, type PartyEvent, type Reference } from '../domain/party.js';
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

/** The result of an attempt: the parts of the vendor's verdict that are answered, and the vendor's answer if it is passed on. */
export interface Answered {
  readonly kind: string;
  readonly reply: VendorReply | null;
  /** Only of a refusal. Absent in entries of older releases. */
  readonly reason?: RefusalReason | undefined;
  /** Only of a question about the authentication. Absent in entries of older releases. */
  readonly authenticated?: boolean | undefined;
}

/** The part of a verdict that is stored. */
export type AnsweredVerdict = Replied &
  Pick<Answered, 'kind'> & { readonly reason?: RefusalReason; readonly authenticated?: boolean };

/** An open challenge. */
interface ChallengeContent {
  readonly vendorSession: string;
  /** Absent in entries of older releases. */
  readonly questions?: readonly AskedQuestion[] | null;
}

/** The vault for parties. `erased` means that the data key of the party's person was destroyed. */
@Injectable()
export class PartySecrets {
  constructor(
    private readonly vault: Vault,
    private readonly vendors: Vendors,
  ) {}

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

  keepChallenge(subjectId: string, partyId: string, content: ChallengeContent): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, challengeEntry(partyId), content);
  }

  /** The vendor's session of an open challenge; null if the person was erased. */
  async challenge(subjectId: string, partyId: string): Promise<string | null> {
    const kept = await readEntry<ChallengeContent>(this.vault, subjectId, challengeEntry(partyId));
    if (kept === null) throw new Error(`Party ${partyId} has a challenge but no vendor session`);
    return kept === 'erased' ? null : kept.vendorSession;
  }

  /** The questions of an open challenge; null if it has none, when it is over, and if the person was erased. */
  async questions(subjectId: string, partyId: string): Promise<readonly AskedQuestion[] | null> {
    const kept = await readEntry<ChallengeContent>(this.vault, subjectId, challengeEntry(partyId));
    return kept === null || kept === 'erased' ? null : (kept.questions ?? null);
  }

  forgetChallenge(subjectId: string, partyId: string): Promise<void> {
    return this.vault.remove(subjectId, challengeEntry(partyId));
  }

  keepAnswer(
    { subjectId, vendor }: Reference,
    partyId: string,
    attemptId: string,
    { kind, reply, reason, authenticated }: AnsweredVerdict,
  ): Promise<'kept' | 'erased'> {
    const passedOn = reply !== undefined && this.vendors.speaksDirect('identity', vendor) ? reply : null;
    const answered: Answered = { kind, reply: passedOn, reason, authenticated };
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
