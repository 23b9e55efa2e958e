import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { VaultPlace, VaultPromise } from '../../../kernel/vault-promise.js';
import type { Replied } from '../../../kernel/vendor-reply.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import type { KeptApplicant, KnownPerson } from '../../../kernel/vendor-subject.js';
import type { Applicant, RegistrationVerdict } from '../../../ports/identity-vendor.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import { Vendors } from '../../../ports/vendors.js';
import { screeningSession } from '../domain/screening-session.js';
import {
  applicantEntry,
  secretsEntry,
  unitAddressEntry,
  vendorReplyEntry,
  type References,
  type Referring,
  type Session,
  type SessionEvent,
  type SessionSecretsContent,
  type UnitAddressContent,
  type VendorReplyContent,
} from '../domain/session.js';

const ENDS = ['SessionBlocked', 'SessionExpired', 'SessionErrored'] satisfies SessionEvent['type'][];

/**
 * The vault keeps the vendor's session from the verdict on, while the session is open or verified. The address of the unit is kept as long as the
 * person's data.
 */
export const SESSION_SECRETS: readonly VaultPromise[] = [
  ...(['ReviewStarted', 'PersonSentToVendor', 'StepUpRequired'] as const satisfies readonly SessionEvent['type'][]).map(
    (type) => ({
      category: screeningSession.category,
      type,
      place: secretsOf,
      until: ENDS,
    }),
  ),
  {
    category: screeningSession.category,
    type: 'IdentityVerified' satisfies SessionEvent['type'],
    place: secretsOf,
    until: [],
  },
  {
    category: screeningSession.category,
    type: 'ApplicantSealed' satisfies SessionEvent['type'],
    place: ({ stream }, first) => ({ subject: subjectOf(first), entry: applicantEntry(idOf(stream)) }),
    until: ['ApplicantDiscarded', ...ENDS],
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
  return { subject: subjectOf(first), entry: secretsEntry(idOf(stream)) };
}

function subjectOf(first: RecordedEvent): string {
  return (first as RecordedEvent & Extract<SessionEvent, { type: 'ScreeningSubmitted' }>).data.subjectId;
}

/** The vault for screening sessions. */
@Injectable()
export class SessionSecrets {
  constructor(
    private readonly vault: Vault,
    private readonly vendors: Vendors,
  ) {}

  /** Called when the vendor has confirmed the person, requires a step-up, reviews the person or needs the person. */
  keepRegistration(
    sessionId: string,
    { subjectId, vendors }: Session,
    verdict: Extract<RegistrationVerdict, { vendorSession: string }>,
    phoneId?: string,
  ): Promise<'kept' | 'erased'> {
    const { vendorSession } = verdict;
    return this.keep(subjectId, sessionId, {
      vendorSession,
      references: this.references(vendors, vendorSession),
      questions: verdict.kind === 'step-up' ? verdict.kba : null,
      ...(verdict.kind === 'needs-user' && { open: verdict.open }),
      ...(phoneId !== undefined && { phoneId }),
    });
  }

  /**
   * Seals the person's own data for the vendors that need the data, and returns their capabilities. The identity vendor is called only afterwards, so
   * that a late verdict finds the data. The facts about the device are not kept.
   */
  async keepApplicant(
    sessionId: string,
    { subjectId, vendors, userType }: Session,
    { address, ipAddress: _ip, jscPayload: _jsc, hdimPayload: _hdim, ...person }: Applicant,
  ): Promise<readonly Referring[]> {
    const needing = this.knowingBy('applicant', vendors);
    // Only consumers have reports.
    const neededBy = needing.filter((capability) => capability !== 'credit' || userType === 'CONSUMER');
    if (neededBy.length === 0) return [];
    const applicant: KeptApplicant = { ...person, ...(address !== undefined && { address }) };
    return (await keepEntry(this.vault, subjectId, applicantEntry(sessionId), applicant)) === 'kept' ? neededBy : [];
  }

  async forgetApplicant(subjectId: string, sessionId: string): Promise<void> {
    await this.vault.remove(subjectId, applicantEntry(sessionId));
  }

  /** False if the person was erased in the meantime. */
  async keepUnitAddress(subjectId: string, sessionId: string, content: UnitAddressContent): Promise<boolean> {
    return (await keepEntry(this.vault, subjectId, unitAddressEntry(sessionId), content)) === 'kept';
  }

  /** From now on the vendor knows the person by this token. */
  async keepPerson(
    sessionId: string,
    { subjectId, vendors }: Session,
    personToken: string,
  ): Promise<'kept' | 'erased'> {
    const secrets = await readEntry<SessionSecretsContent>(this.vault, subjectId, secretsEntry(sessionId));
    if (secrets === 'erased') return secrets;
    // The session has ended in the meantime and needs no token.
    if (secrets === null) return 'kept';
    const references = this.references(vendors, personToken);
    return this.keep(subjectId, sessionId, { ...secrets, personToken, references });
  }

  /** Stores a reply that is passed on to the party's server, and replaces the previous reply. Callers of the platform API never get the reply. */
  async keepReply(
    sessionId: string,
    { partyId, subjectId, vendors: { identity } }: Session,
    to: Omit<VendorReplyContent, 'reply'>,
    { reply }: Replied,
  ): Promise<void> {
    if (partyId !== undefined && reply !== undefined && this.vendors.speaksDirect('identity', identity))
      await keepEntry(this.vault, subjectId, vendorReplyEntry(sessionId), { ...to, reply });
  }

  /** The newest reply; null if the vendor gave none to keep, and if the person was erased. */
  async replyOf(subjectId: string, sessionId: string): Promise<VendorReplyContent | null> {
    const content = await readEntry<VendorReplyContent>(this.vault, subjectId, vendorReplyEntry(sessionId));
    return content === 'erased' ? null : content;
  }

  async forgetReply(subjectId: string, sessionId: string): Promise<void> {
    await this.vault.remove(subjectId, vendorReplyEntry(sessionId));
  }

  /** Removes the secrets that an ended session no longer needs. A verified session keeps the vendor's token. */
  async keepLess(sessionId: string, { subjectId, status, vendors }: Session): Promise<void> {
    if (status !== 'VERIFIED') {
      if (this.knowingBy('applicant', vendors).length > 0) await this.forgetApplicant(subjectId, sessionId);
      return this.forget(subjectId, sessionId);
    }
    const secrets = await this.find(subjectId, sessionId);
    if (secrets !== 'erased' && secrets.questions !== null)
      await this.keep(subjectId, sessionId, { ...secrets, questions: null });
  }

  async forget(subjectId: string, sessionId: string): Promise<void> {
    await this.vault.remove(subjectId, secretsEntry(sessionId));
  }

  /** The open questions; null if none are open, and if the person was erased. */
  async questionsOf(subjectId: string, sessionId: string): Promise<SessionSecretsContent['questions']> {
    const secrets = await readEntry<SessionSecretsContent>(this.vault, subjectId, secretsEntry(sessionId));
    return secrets === null || secrets === 'erased' ? null : secrets.questions;
  }

  async isErased(subjectId: string): Promise<boolean> {
    return isErased(this.vault, subjectId);
  }

  /** The secrets of a session with a step-up. Throws if the person was erased, because the session cannot continue. */
  async of(subjectId: string, sessionId: string): Promise<SessionSecretsContent> {
    const secrets = await this.find(subjectId, sessionId);
    if (secrets === 'erased') throw new DomainError('screening.session_spent');
    return secrets;
  }

  /** The secrets of a session with a step-up, a review or a confirmed person. */
  async find(subjectId: string, sessionId: string): Promise<SessionSecretsContent | 'erased'> {
    const secrets = await readEntry<SessionSecretsContent>(this.vault, subjectId, secretsEntry(sessionId));
    if (secrets === null) throw new Error(`Session ${sessionId} has no vendor session`);
    return secrets;
  }

  private keep(subjectId: string, sessionId: string, secrets: SessionSecretsContent): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, secretsEntry(sessionId), secrets);
  }

  /** The tokens for the other capabilities. A vendor that accepts the identity vendor's tokens knows the person by this token. */
  private references(vendors: VendorChoice, token: string): References {
    return Object.fromEntries(this.knowingBy('session', vendors).map((capability) => [capability, token]));
  }

  private knowingBy(form: KnownPerson['kind'], vendors: VendorChoice): readonly Referring[] {
    return (['credit', 'income', 'banking'] as const).filter((capability) => {
      const vendor = vendors[capability];
      return vendor !== undefined && this.vendors.knowsPersonBy(capability, vendor, vendors.identity) === form;
    });
  }
}
