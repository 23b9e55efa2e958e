import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import { readEntry } from '../../../ports/vault-entry.js';
import {
  Screenings,
  type PaymentNews,
  type Referring,
  type ScreeningFacts,
  type VendorReference,
} from '../../../published/screenings.js';
import { overallStatusOf, paymentStatusOf } from '../domain/overall-status.js';
import { screeningSession } from '../domain/screening-session.js';
import { secretsEntry, type SessionEvent, type SessionSecretsContent, type SessionState } from '../domain/session.js';

/** Screening sessions as the other modules see them: read from the log, so that what they decide by is never behind. */
@Injectable()
export class ScreeningDirectory extends Screenings {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vault: Vault,
  ) {
    super();
  }

  override async find(sessionId: string): Promise<ScreeningFacts | null> {
    if (!isId(sessionId)) return null;
    return factsOf(sessionId, await this.aggregates.load(screeningSession, sessionId));
  }

  override async reference(sessionId: string, capability: Referring): Promise<VendorReference | null> {
    const { state } = await this.aggregates.load(screeningSession, sessionId);
    if (state.status !== 'VERIFIED') return null;
    const secrets = await readEntry<SessionSecretsContent>(this.vault, state.subjectId, secretsEntry(sessionId));
    if (secrets === null || secrets === 'erased') return null;
    const { vendorSession, personToken = vendorSession } = secrets;
    const { references = { credit: vendorSession, income: vendorSession } } = secrets;
    const tokens: Partial<Record<Referring, string>> = { ...references, identity: personToken };
    return { vendor: state.vendors[capability], token: tokens[capability] ?? null };
  }

  override async paymentProgressed(sessionId: string, payment: PaymentNews, context: ActionContext): Promise<void> {
    const { transactionId, ordinal, observation, status } = payment;
    await this.aggregates.execute(
      screeningSession,
      sessionId,
      { kind: 'record-payment', payment: { transactionId, ordinal, observation, status } },
      context,
    );
  }
}

const DISCARDED = 'VendorReplyDiscarded' satisfies SessionEvent['type'];

/** Null for a session that does not exist. */
export function factsOf(
  sessionId: string,
  { state, owner, history }: LoadedAggregate<SessionState>,
): ScreeningFacts | null {
  const [first] = history;
  // Tidying up is no news of the session.
  const last = history.findLast(({ type }) => type !== DISCARDED);
  if (state.status === 'NONE' || !owner || !first || !last) return null;
  const { accountId, environment } = owner;
  if (accountId === null || environment === null) throw new Error(`Session ${sessionId} belongs to no account`);
  return {
    sessionId,
    accountId,
    environment,
    userType: state.userType,
    subjectId: state.subjectId,
    status: state.status,
    paymentStatus: paymentStatusOf(state),
    overallStatus: overallStatusOf(state),
    vendors: state.vendors,
    block: state.status === 'BLOCKED' ? { reasonCode: state.reasonCode, until: state.blockedUntil } : null,
    intendedRecipientId: state.intendedRecipientId ?? null,
    grantId: state.grantId ?? null,
    partyId: state.partyId ?? null,
    verifiedAt: state.status === 'VERIFIED' ? state.verifiedAt : null,
    duplicateGuard: state.duplicateGuard,
    createdAt: first.metadata.occurredAt,
    updatedAt: last.metadata.occurredAt,
  };
}
