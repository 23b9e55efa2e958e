import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import { Vault } from '../../../ports/vault.js';
import { unlessErased } from '../../../ports/vault-entry.js';
import { sessionGrant, type SessionGrantEvent } from '../domain/session-grant.js';

/** What a caller said about a session waits under the grant until a person takes it over, and stays with the person. */
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

/** The caller's own words about the session that is to begin under a grant. They may be personal, so the vault alone has them. */
@Injectable()
export class GrantDetails {
  constructor(private readonly vault: Vault) {}

  /** The vault subject under which they are kept from now on, by the grant's id: one a grant, so that they can be erased there. */
  async keep(grantId: string, details: Readonly<Record<string, unknown>>): Promise<string> {
    const subject = subjectOf(grantId);
    await this.vault.put(subject, grantId, Buffer.from(JSON.stringify(details)));
    return subject;
  }

  /** From then on the person's subject has them, unless either was erased meanwhile. Safe to repeat. */
  async move(grantId: string, subject: string, personSubject: string): Promise<void> {
    const details = await unlessErased(this.vault.get(subject, grantId));
    // Erased, or gone: another process was faster to move them.
    if (details !== null && details !== 'erased') await unlessErased(this.vault.put(personSubject, grantId, details));
    await this.erase(grantId, subject);
  }

  /** From under that subject. Safe to repeat. */
  async erase(grantId: string, subject: string): Promise<void> {
    if (subject === subjectOf(grantId)) await this.vault.erase(subject);
    // A person's subject keeps more than that, and so does the one that all grants of an account shared before.
    else await this.vault.remove(subject, grantId);
  }
}

function subjectOf(grantId: string): string {
  return derivedId('session-grant', grantId);
}
