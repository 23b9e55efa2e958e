import { Injectable } from '@nestjs/common';
import type { Owner } from '../../../kernel/context.js';
import { FIRST_CHOICE } from '../../../kernel/vendor-choice.js';
import { Accounts } from '../../../published/accounts.js';
import { KnownPersons } from '../../../published/known-persons.js';
import { Screenings } from '../../../published/screenings.js';
import { referencesOf, type PartyState, type Reference } from '../domain/party.js';
import { PartySecrets } from './party-secrets.js';

/** Finds the reference by which the identity vendor knows a party. The vendor's tokens leave the vault only for a call. */
@Injectable()
export class PartyReferences {
  constructor(
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly persons: KnownPersons,
    private readonly secrets: PartySecrets,
  ) {}

  /** The newest reference: a confirmed session or the stored token. Null if the vault keeps no token of the vendor any more. */
  async find(
    partyId: string,
    state: PartyState,
    owner: Owner & { readonly accountId: string },
  ): Promise<Reference | null> {
    for (const sessionId of referencesOf(state)) {
      const reference =
        sessionId === null ? await this.stored(state, owner.accountId) : await this.ofSession(sessionId);
      const token = reference && (await this.tokenOf(partyId, reference));
      if (reference === null || token === null) continue;
      return { ...reference, personIds: await this.persons.idsOf(sessionId, token, owner) };
    }
    return null;
  }

  /** Null if the person was erased. */
  async tokenOf(partyId: string, { sessionId, subjectId }: Reference): Promise<string | null> {
    if (sessionId === null) return this.secrets.token(subjectId, partyId);
    return this.screenings.identityToken(sessionId);
  }

  private async ofSession(sessionId: string): Promise<Reference | null> {
    const facts = await this.screenings.find(sessionId);
    return facts && { sessionId, subjectId: facts.subjectId, vendor: facts.vendors.identity };
  }

  private async stored({ token }: PartyState, accountId: string): Promise<Reference | null> {
    if (token === null) return null;
    const { vendors } = (await this.accounts.find(accountId)) ?? {};
    return { sessionId: null, subjectId: token.subjectId, vendor: vendors?.identity ?? FIRST_CHOICE.identity };
  }
}
