import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Vault } from '../../../ports/vault.js';
import { readEntry } from '../../../ports/vault-entry.js';
import {
  Screenings,
  type PaymentNews,
  type Referring,
  type ScreeningFacts,
  type VendorReference,
} from '../../../published/screenings.js';
import { screeningSession } from '../domain/screening-session.js';
import { secretsEntry, type SessionSecretsContent } from '../domain/session.js';
import { datedSession, factsOf } from './session-facts.js';

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
    const { state, owner } = await this.aggregates.loadCached(datedSession, sessionId);
    return factsOf(sessionId, state, owner);
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
