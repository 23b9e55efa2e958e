import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { VaultPlace, VaultPromise } from '../../../kernel/vault-promise.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { screeningSession } from '../domain/screening-session.js';
import {
  secretsEntry,
  unitAddressEntry,
  vendorReplyEntry,
  type References,
  type Session,
  type SessionEvent,
  type SessionSecretsContent,
  type UnitAddressContent,
  type VendorReplyContent,
} from '../domain/session.js';

/**
 * The vendor's session is kept from the vendor's verdict on, while the session is open or verified; the address of the unit, where one
 * was given, for as long as the person's data.
 */
export const SESSION_SECRETS: readonly VaultPromise[] = [
  {
    category: screeningSession.category,
    type: 'StepUpRequired' satisfies SessionEvent['type'],
    place: secretsOf,
    until: ['SessionBlocked', 'SessionExpired', 'SessionErrored'] satisfies SessionEvent['type'][],
  },
  {
    category: screeningSession.category,
    type: 'IdentityVerified' satisfies SessionEvent['type'],
    place: secretsOf,
    until: [],
  },
  {
    category: screeningSession.category,
    type: 'ScreeningSubmitted' satisfies SessionEvent['type'],
    place: ({ stream, ...event }) => {
      const { subjectId, unitAddressKept } = (event as Extract<SessionEvent, { type: 'ScreeningSubmitted' }>).data;
      return unitAddressKept ? { subject: subjectId, entry: unitAddressEntry(idOf(stream)) } : null;
    },
    until: [],
  },
];

function secretsOf({ stream }: RecordedEvent, first: RecordedEvent): VaultPlace {
  const { data } = first as RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>;
  return { subject: data.subjectId, entry: secretsEntry(idOf(stream)) };
}

/** The vault as a session uses it. */
@Injectable()
export class SessionSecrets {
  constructor(private readonly vault: Vault) {}

  /** False when the person was erased while the vendor was being asked. */
  async keep(subjectId: string, sessionId: string, secrets: SessionSecretsContent): Promise<boolean> {
    return (await keepEntry(this.vault, subjectId, secretsEntry(sessionId), secrets)) === 'kept';
  }

  /** False when the person was erased meanwhile. */
  async keepUnitAddress(subjectId: string, sessionId: string, content: UnitAddressContent): Promise<boolean> {
    return (await keepEntry(this.vault, subjectId, unitAddressEntry(sessionId), content)) === 'kept';
  }

  /** The vendor knows the person by another token from now on. `known`: what is kept until then. Gives what is kept afterwards. */
  async keepPerson(
    subjectId: string,
    sessionId: string,
    personToken: string,
    references: References,
    known?: SessionSecretsContent,
  ): Promise<SessionSecretsContent | 'erased'> {
    const secrets = known ?? (await this.find(subjectId, sessionId));
    if (secrets === 'erased') return secrets;
    const content = { ...secrets, personToken, references };
    return (await this.keep(subjectId, sessionId, content)) ? content : 'erased';
  }

  /** Replaces the reply before. What was erased meanwhile is not kept. */
  async keepReply(subjectId: string, sessionId: string, content: VendorReplyContent): Promise<void> {
    await keepEntry(this.vault, subjectId, vendorReplyEntry(sessionId), content);
  }

  /** The newest; null when the vendor said nothing to keep, and after the person was erased. */
  async replyOf(subjectId: string, sessionId: string): Promise<VendorReplyContent | null> {
    const content = await readEntry<VendorReplyContent>(this.vault, subjectId, vendorReplyEntry(sessionId));
    return content === 'erased' ? null : content;
  }

  async forgetReply(subjectId: string, sessionId: string): Promise<void> {
    await this.vault.remove(subjectId, vendorReplyEntry(sessionId));
  }

  /** Keeps no more than what an ended session is still good for: the vendor's token of a verified one. `known`: what is kept until then. */
  async keepLess(sessionId: string, session: Session, known?: SessionSecretsContent | 'erased'): Promise<void> {
    const { subjectId, status } = session;
    if (status !== 'VERIFIED') return this.forget(subjectId, sessionId);
    const secrets = known ?? (await this.find(subjectId, sessionId));
    if (secrets !== 'erased' && secrets.questions !== null)
      await this.keep(subjectId, sessionId, { ...secrets, questions: null });
  }

  async forget(subjectId: string, sessionId: string): Promise<void> {
    await this.vault.remove(subjectId, secretsEntry(sessionId));
  }

  async isErased(subjectId: string): Promise<boolean> {
    return isErased(this.vault, subjectId);
  }

  /** What a session with a step-up has. After the person was erased the session cannot go on. */
  async of(subjectId: string, sessionId: string): Promise<SessionSecretsContent> {
    const secrets = await this.find(subjectId, sessionId);
    if (secrets === 'erased') throw new DomainError('screening.session_spent');
    return secrets;
  }

  private async find(subjectId: string, sessionId: string): Promise<SessionSecretsContent | 'erased'> {
    const secrets = await readEntry<SessionSecretsContent>(this.vault, subjectId, secretsEntry(sessionId));
    if (secrets === null) throw new Error(`Session ${sessionId} has a step-up but no vendor session`);
    return secrets;
  }
}
