import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import { derivedId } from '../../../kernel/ids.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import { Vault } from '../../../ports/vault.js';
import { unlessErased } from '../../../ports/vault-entry.js';
import { EXTERNAL_ID_KEY, externalIdHash } from '../../../published/external-ids.js';
import { sessionGrant, type SessionGrantEvent } from '../domain/session-grant.js';

/** The details that a caller gives for a session are stored under the grant until a person is known. Then the details are stored under the person. */
export const GRANT_DETAILS: readonly VaultPromise[] = [
  {
    category: sessionGrant.category,
    type: 'GrantMinted' satisfies SessionGrantEvent['type'],
    place: (event) => {
      const { detailsSubject } = (event as RecordedEvent & Extract<SessionGrantEvent, { type: 'GrantMinted' }>).data;
      return detailsSubject === null ? null : { subject: detailsSubject, entry: idOf(event.stream) };
    },
    until: ['GrantDetailsEntrusted', 'GrantDetailsErased'] satisfies SessionGrantEvent['type'][],
  },
  {
    category: sessionGrant.category,
    type: 'GrantDetailsEntrusted' satisfies SessionGrantEvent['type'],
    place: (event) => ({
      subject: (event as RecordedEvent & Extract<SessionGrantEvent, { type: 'GrantDetailsEntrusted' }>).data.subjectId,
      entry: idOf(event.stream),
    }),
    until: [],
  },
];

/** The caller's details of a session that may begin under a grant. The details may be personal, so only the vault stores them. */
@Injectable()
export class GrantDetails {
  constructor(private readonly vault: Vault) {}

  /** Stores the details and returns their vault subject. Each grant has a subject of its own, so that its details can be erased without others. */
  async keep(grantId: string, details: Readonly<Record<string, unknown>>): Promise<string> {
    const subject = subjectOf(grantId);
    await this.vault.put(subject, grantId, Buffer.from(JSON.stringify(details)));
    return subject;
  }

  /** The hash by which lists find the caller's own id. Null for details without one. */
  async externalIdHashOf(
    embedder: { readonly accountId: string; readonly environment: Environment },
    { external_id: externalId }: Readonly<Record<string, unknown>>,
  ): Promise<string | null> {
    if (typeof externalId !== 'string') return null;
    return externalIdHash(await this.vault.installationKey(EXTERNAL_ID_KEY), embedder, externalId);
  }

  /** Moves the details to the person's subject, unless either subject was erased in the meantime. Safe to repeat. */
  async move(grantId: string, subject: string, personSubject: string): Promise<void> {
    const details = await unlessErased(this.vault.get(subject, grantId));
    // Details that are missing were erased, or another process has already moved them.
    if (details !== null && details !== 'erased') await unlessErased(this.vault.put(personSubject, grantId, details));
    await this.erase(grantId, subject);
  }

  /** Erases the details under that subject. Safe to repeat. */
  async erase(grantId: string, subject: string): Promise<void> {
    if (subject === subjectOf(grantId)) await this.vault.erase(subject);
    // The subject of a person also has other values. In earlier versions, the subject that all grants of an account shared had other values too.
    else await this.vault.remove(subject, grantId);
  }
}

function subjectOf(grantId: string): string {
  return derivedId('session-grant', grantId);
}
