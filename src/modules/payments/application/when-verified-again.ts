import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { IDENTITY_VERIFIED, Screenings } from '../../../published/screenings.js';
import { checkout, checkoutReference } from '../domain/checkout.js';
import { payment, paymentIdIn } from '../domain/payment.js';

/**
 * A person who has paid for a session that can have no report does not pay again once they are verified again: the payment counts for the newer
 * session. A renter's hosted checkout does so by itself within the guard (see WhenCheckoutPaid), and here after it: for the newest session.
 */
@Injectable()
export class WhenVerifiedAgain implements EventHandler {
  readonly name = 'verifications_into_payments';
  readonly inline = true;
  readonly categories = [IDENTITY_VERIFIED.category];
  readonly types: ReadonlySet<string> = new Set([IDENTITY_VERIFIED.type]);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
  ) {}

  async handle({ id: causationId, stream, metadata }: RecordedEvent): Promise<void> {
    const to = idOf(stream);
    const session = await this.screenings.find(to);
    const isUnpaid = session?.paymentStatus === 'PENDING' || session?.paymentStatus === 'FAILED';
    if (!isUnpaid || (await this.screenings.reportProspect(to)) !== 'possible') return;
    const context = {
      ...systemContext('payments', metadata),
      correlationId: metadata.$correlationId,
      causationId,
    };
    if (session.partyId !== null) return this.countCheckout(session.partyId, to, context);
    for (const { sessionId: from, transactionId } of await this.screenings.paidInVain(to)) {
      const id = paymentIdIn(transactionId);
      if (id === null) continue;
      const carried = await this.aggregates.execute(payment, id, { kind: 'carry-over', from, to }, context);
      const { state } = carried;
      if (state.status === 'NONE' || state.sessionId !== to) continue;
      // Its report may come now.
      if (carried.events.length > 0) await this.aggregates.execute(payment, id, { kind: 'drop-refund-plan' }, context);
      // Where the subscription carried it over just now, it may not have told the session yet.
      const { ordinal, events: observation, status } = state;
      return this.screenings.paymentProgressed(to, { transactionId, ordinal, observation, status }, context);
    }
  }

  private async countCheckout(partyId: string, to: string, context: ActionContext): Promise<void> {
    const { state } = await this.aggregates.load(checkout, partyId);
    if (state.status === 'NONE' || state.paidBy === null || state.newest.sessionId !== to) return;
    const { ordinal } = state.paidBy;
    const transactionId = checkoutReference(partyId, ordinal);
    if (!(await this.screenings.paidInVain(to)).some((paid) => paid.transactionId === transactionId)) return;
    const paid = { transactionId, ordinal, observation: state.events, status: 'SUCCEEDED' } as const;
    await this.screenings.paymentProgressed(to, paid, context);
  }
}
