import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { KeptApplicant, KnownPerson } from '../../../kernel/vendor-subject.js';
import { DEFAULT_PURPOSE } from '../../../kernel/permissible-purpose.js';
import { NotAuthentic, Vault } from '../../../ports/vault.js';
import { readEntry } from '../../../ports/vault-entry.js';
import { Reports } from '../../../published/reports.js';
import {
  Screenings,
  type PaidSession,
  type PaymentUpdate,
  type Referring,
  type ReportProspect,
  type ScreenedFor,
  type ScreeningFacts,
  type VendorReference,
} from '../../../published/screenings.js';
import { sessionsIn } from '../domain/screened-person.js';
import { isOfPerson, isOver, screeningSession } from '../domain/screening-session.js';
import {
  applicantEntry,
  secretsEntry,
  unitAddressEntry,
  type References,
  type Session,
  type SessionSecretsContent,
  type SessionState,
  type UnitAddressContent,
} from '../domain/session.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { screenedSession } from './screened-for.js';
import { datedSession, factsOf } from './session-facts.js';

const logger = new Logger('ScreeningDirectory');

/** Screening sessions for the other modules. The directory reads sessions from the log, so that no module decides on an outdated state. */
@Injectable()
export class ScreeningDirectory extends Screenings {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vault: Vault,
    private readonly reports: Reports,
    private readonly answers: PersonAnswers,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async find(sessionId: string): Promise<ScreeningFacts | null> {
    if (!isId(sessionId)) return null;
    const { state, owner } = await this.aggregates.load(datedSession, sessionId);
    return factsOf(sessionId, state, owner);
  }

  override async reference(sessionId: string, referring: Referring): Promise<VendorReference | null> {
    const { state, owner } = await this.aggregates.load(screenedSession, sessionId);
    const { session, endUserType, purpose, consent } = state;
    const secrets = await this.secretsOfVerified(sessionId, session);
    if (secrets === null || session.status !== 'VERIFIED' || !owner?.accountId) return null;
    const capability = referring === 'banking' && session.vendors.banking === undefined ? 'income' : referring;
    const person = await this.personOf(sessionId, session, secrets, capability);
    const facts = { purpose: purpose ?? DEFAULT_PURPOSE, endUserType, askedBy: owner.accountId, consent } as const;
    return { vendor: session.vendors[capability] ?? session.vendors.income, subject: person && { person, ...facts } };
  }

  override async identityToken(sessionId: string): Promise<string | null> {
    const { state } = await this.aggregates.load(screeningSession, sessionId);
    const secrets = await this.secretsOfVerified(sessionId, state);
    return secrets === null ? null : (secrets.personToken ?? secrets.vendorSession);
  }

  override async screenedFor(sessionId: string): Promise<ScreenedFor | null> {
    const { state, owner } = await this.aggregates.load(screenedSession, sessionId);
    const { addressSubject, verifiedBy } = state;
    const facts = factsOf(sessionId, state, owner);
    if (facts === null) return null;
    const kept =
      addressSubject === null
        ? null
        : await readEntry<UnitAddressContent>(this.vault, addressSubject, unitAddressEntry(sessionId));
    const unitAddress = kept === null || kept === 'erased' ? null : lineOf(kept.unitAddress);
    return { ...facts, unitAddress, verifiedBy };
  }

  override async reportProspect(sessionId: string): Promise<ReportProspect> {
    const expiresAt = await this.reports.expiryOf(sessionId);
    const { state, owner } = await this.aggregates.load(screeningSession, sessionId);
    if (expiresAt !== null)
      return (await this.clock.of(owner ?? { accountId: null, environment: null })) < new Date(expiresAt)
        ? 'possible'
        : 'none';
    if (state.status !== 'VERIFIED') return 'none';
    const secrets = await this.secretsOf(sessionId, state.subjectId);
    if (secrets === 'erased') return 'person-erased';
    if (secrets === null || (await this.reports.isOutOfReach(sessionId))) return 'none';
    return (await this.personOf(sessionId, state, secrets, 'credit')) === null ? 'none' : 'possible';
  }

  override async paidInVain(sessionId: string): Promise<readonly PaidSession[]> {
    const { state: own } = await this.aggregates.load(screeningSession, sessionId);
    if (own.status === 'NONE') return [];
    const known = sessionsIn(await this.answers.load(streamsOf(own)));
    const found: PaidSession[] = [];
    const used = new Set<string>();
    const place = known.indexOf(sessionId);
    const isEarlier = (index: number): boolean => place < 0 || index < place;
    for (const [index, id] of [...known.entries()].reverse()) {
      const { state } = await this.aggregates.load(screeningSession, id);
      if (id === sessionId || state.status === 'NONE' || state.payment?.status !== 'SUCCEEDED') continue;
      const { transactionId } = state.payment;
      const isServed = (await this.reports.expiryOf(id)) !== null || (await this.reportProspect(id)) === 'possible';
      if (isServed || !isOver(state)) used.add(transactionId);
      else if (isEarlier(index) && isOfPerson(state, own)) found.push({ sessionId: id, transactionId });
    }
    return found.filter(({ transactionId }) => !used.has(transactionId));
  }

  override async paymentProgressed(sessionId: string, payment: PaymentUpdate, context: ActionContext): Promise<void> {
    const { transactionId, ordinal, observation, status } = payment;
    await this.aggregates.execute(
      screeningSession,
      sessionId,
      { kind: 'record-payment', payment: { transactionId, ordinal, observation, status } },
      context,
    );
  }

  /** The person in the form that the vendor of the capability knows; null if the vault has no such form. */
  private async personOf(
    sessionId: string,
    { subjectId, applicantFor = [] }: Session,
    secrets: SessionSecretsContent,
    capability: Referring,
  ): Promise<KnownPerson | null> {
    const token = referencesIn(secrets)[capability];
    if (token !== undefined) return { kind: 'session', token };
    if (!applicantFor.includes(capability)) return null;
    const applicant = await this.entryOf<KeptApplicant>(sessionId, subjectId, applicantEntry(sessionId));
    return applicant === null || applicant === 'erased' ? null : { kind: 'applicant', applicant };
  }

  private async secretsOfVerified(sessionId: string, state: SessionState): Promise<SessionSecretsContent | null> {
    const secrets = state.status === 'VERIFIED' ? await this.secretsOf(sessionId, state.subjectId) : null;
    return secrets === 'erased' ? null : secrets;
  }

  private secretsOf(sessionId: string, subjectId: string): Promise<SessionSecretsContent | null | 'erased'> {
    return this.entryOf(sessionId, subjectId, secretsEntry(sessionId));
  }

  /** Also null if the entry cannot be decrypted. This does not count as an outage, because a later try would fail too. */
  private async entryOf<Content extends object>(
    sessionId: string,
    subjectId: string,
    entry: string,
  ): Promise<Content | null | 'erased'> {
    try {
      return await readEntry<Content>(this.vault, subjectId, entry);
    } catch (error) {
      if (!(error instanceof NotAuthentic)) throw error;
      logger.error(`The vault entry of session ${sessionId} cannot be decrypted`);
      return null;
    }
  }
}

/** An older session stores only the identity vendor's token, which the first vendors accept. */
function referencesIn({ vendorSession, references }: SessionSecretsContent): References {
  return references ?? { credit: vendorSession, income: vendorSession };
}

function lineOf(address: UnitAddressContent['unitAddress']): string {
  return typeof address === 'string' ? address : Object.values(address).join(', ');
}
