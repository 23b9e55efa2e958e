import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { ReportPulls } from '../../../published/reports.js';
import { IDENTITY_VERIFIED, Screenings, type PaidSession } from '../../../published/screenings.js';
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
    private readonly pulls: ReportPulls,
  ) {}

  async handle({ id: causationId, stream, metadata }: RecordedEvent): Promise<void> {
    const to = idOf(stream);
    const session = await this.screenings.find(to);
    if (session === null || (await this.screenings.reportProspect(to)) !== 'possible') return;
    const context = {
      ...systemContext('payments', metadata),
      correlationId: metadata.$correlationId,
      causationId,
    };
    const isUnpaid = session.paymentStatus === 'PENDING' || session.paymentStatus === 'FAILED';
    // A process that has told the session of its payment may have died then. A checkout may have paid for several sessions.
    let { paidBy } = session;
    for (const paid of await this.screenings.paidInVain(to)) {
      if (paidBy === null ? !isUnpaid : paidBy !== paid.transactionId) continue;
      const isCounted =
        session.partyId === null
          ? await this.countIntent(paid, to, context)
          : await this.countCheckout(session.partyId, paid, to, context);
      if (isCounted) paidBy = paid.transactionId;
    }
  }

  private async countIntent(
    { sessionId: from, transactionId }: PaidSession,
    to: string,
    context: ActionContext,
  ): Promise<boolean> {
    const id = paymentIdIn(transactionId);
    if (id === null || !(await this.pulls.carryOver(from, transactionId, context))) return false;
    const { state } = await this.aggregates.execute(payment, id, { kind: 'carry-over', from, to }, context);
    if (state.status === 'NONE' || state.sessionId !== to) return false;
    // Where the subscription carried it over just now, it may not have told the session yet.
    const { ordinal, events: observation, status } = state;
    await this.screenings.paymentProgressed(to, { transactionId, ordinal, observation, status }, context);
    return true;
  }

  private async countCheckout(
    partyId: string,
    { sessionId: from, transactionId }: PaidSession,
    to: string,
    context: ActionContext,
  ): Promise<boolean> {
    const { state } = await this.aggregates.load(checkout, partyId);
    if (state.status === 'NONE' || state.paidBy === null || state.newest.sessionId !== to) return false;
    const { ordinal } = state.paidBy;
    if (
      checkoutReference(partyId, ordinal) !== transactionId ||
      !(await this.pulls.carryOver(from, transactionId, context))
    )
      return false;
    const news = { transactionId, ordinal, observation: state.events };
    await this.screenings.paymentProgressed(to, { ...news, status: 'SUCCEEDED' }, context);
    await this.screenings.paymentProgressed(from, { ...news, status: 'CARRIED_OVER' }, context);
    return true;
  }
}
