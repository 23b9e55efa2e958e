import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { keyedId } from '../../../kernel/ids.js';
import { Vault } from '../../../ports/vault.js';
import type { PartyKind } from '../../../published/parties.js';

/** What names parties. Integrators' ids may be personal: they are hashed with a key of the installation and stored nowhere. */
@Injectable()
export class PartyIds {
  constructor(private readonly vault: Vault) {}

  /** `id` is the integrator's, as decoded from the path. Null for what can be nobody's id: 1 to 128 characters are one. */
  async of(
    kind: PartyKind,
    id: string,
    { accountId, environment }: Pick<CallerContext, 'accountId' | 'environment'>,
  ): Promise<string | null> {
    if (id === '' || Array.from(id).length > 128) return null;
    return keyedId(await this.vault.installationKey('party'), accountId, environment, kind, id);
  }

  /** Of a registration's body; says nothing without the key, and nothing of another party's. */
  async hashOf(partyId: string, body: string): Promise<string> {
    return keyedId(await this.vault.installationKey('party'), 'registration', partyId, body);
  }
}
