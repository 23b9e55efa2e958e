import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { ReportPulls } from '../../../published/reports.js';
import { IDENTITY_VERIFIED, Screenings, type PaidSession } from '../../../published/screenings.js';
import { checkout } from '../domain/checkout.js';
import { mayCarryOver, payment, paymentIdIn } from '../domain/payment.js';

/**
 * When a person has paid for a session that can have no report and is verified again, the payment counts for the newer session. For a renter's hosted
 * checkout, WhenCheckoutPaid does this within the guard period. This handler moves the payment after that period, for the newest session.
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
    if (session.partyId !== null && !(await this.isNewestOf(session.partyId, to))) return;
    const isUnpaid = session.paymentStatus === 'PENDING' || session.paymentStatus === 'FAILED';
    // An earlier run may have notified the session and then died. One checkout may have paid for several sessions.
    let { paidBy } = session;
    for (const paid of await this.screenings.paidInVain(to)) {
      if (paidBy === null ? !isUnpaid : paidBy !== paid.transactionId) continue;
      if (await this.count(paid, to, context)) paidBy = paid.transactionId;
    }
  }

  private async count(
    { sessionId: from, transactionId }: PaidSession,
    to: string,
    context: ActionContext,
  ): Promise<boolean> {
    const id = paymentIdIn(transactionId);
    if (id === null) return false;
    const known = await this.aggregates.load(payment, id);
    // A payment that cannot leave the session stays with it, and the pulls of the session stay too.
    if (mayCarryOver(known.state, { from, to }) && !(await this.pulls.carryOver(from, transactionId, context)))
      return false;
    const { state } = await this.aggregates.execute(payment, id, { kind: 'carry-over', from, to }, context);
    if (state.status === 'NONE' || state.sessionId !== to) return false;
    // The subscription may have moved the payment just now without having notified the session.
    const { ordinal, events: observation, status } = state;
    await this.screenings.paymentProgressed(to, { transactionId, ordinal, observation, status }, context);
    return true;
  }

  private async isNewestOf(partyId: string, sessionId: string): Promise<boolean> {
    const { state } = await this.aggregates.load(checkout, partyId);
    return state.status !== 'NONE' && state.newest.sessionId === sessionId;
  }
}
