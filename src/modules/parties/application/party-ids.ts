import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { keyedId } from '../../../kernel/ids.js';
import { Vault } from '../../../ports/vault.js';
import type { PartyKind } from '../../../published/parties.js';

/** Makes the ids of parties. Integrators' ids may be personal data, so they are hashed with a key of the installation and never stored. */
@Injectable()
export class PartyIds {
  constructor(private readonly vault: Vault) {}

  /** `id` is the integrator's id, decoded from the path. The result is null unless the id has 1 to 128 characters. */
  async of(
    kind: PartyKind,
    id: string,
    { accountId, environment }: Pick<CallerContext, 'accountId' | 'environment'>,
  ): Promise<string | null> {
    if (id === '' || Array.from(id).length > 128) return null;
    return keyedId(await this.vault.installationKey('party'), accountId, environment, kind, id);
  }

  /** The hash of a registration's body. The hash reveals nothing without the key, and cannot be compared with another party's. */
  async hashOf(partyId: string, body: string): Promise<string> {
    return keyedId(await this.vault.installationKey('party'), 'registration', partyId, body);
  }
}
