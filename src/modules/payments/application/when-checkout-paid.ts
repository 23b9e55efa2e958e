import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { checkout, checkoutReference, guardEnd, type CheckoutEvent } from '../domain/checkout.js';
import { checkoutPaymentId, payment } from '../domain/payment.js';
import { CheckoutPolicy } from './checkout-policy.js';
import { AlteredPaymentObserver } from './payment-reconciler.js';

type Paid = Extract<CheckoutEvent, { readonly type: 'CheckoutPaid' }>['data'];
type Opened = Extract<CheckoutEvent, { readonly type: 'CheckoutOpened' }>;

/**
 * Records what a renter has paid at a hosted checkout as a payment, which is followed and given back like any other. It counts for the
 * newest session then, and for each that follows within the guard: so a renter who may not pay again is never asked to.
 */
@Injectable()
export class WhenCheckoutPaid implements EventHandler {
  readonly name = 'checkouts_into_payments';
  readonly inline = true;
  readonly categories = [checkout.category];
  readonly types: ReadonlySet<CheckoutEvent['type']> = new Set<CheckoutEvent['type']>([
    'CheckoutPaid',
    'RenterRegisteredAnew',
  ]);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly policy: CheckoutPolicy,
    private readonly observer: AlteredPaymentObserver,
  ) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { id: causationId, stream, metadata, ...event } = recorded as RecordedEvent & CheckoutEvent;
    const id = idOf(stream);
    const context = { ...systemContext('checkouts', metadata), correlationId: metadata.$correlationId, causationId };
    const { state, history } = await this.aggregates.load(checkout, id);
    if (event.type === 'CheckoutPaid') return this.record(id, event.data, history, context);
    if (event.type !== 'RenterRegisteredAnew' || state.status === 'NONE' || state.paidBy === null) return;
    const { paidBy, newest } = state;
    const { sessionId: to, registeredAt } = event.data;
    const counts = Date.parse(registeredAt) < guardEnd(paidBy.at, this.policy.guardSeconds).getTime();
    // An older session is nobody's way to the report any more.
    if (!counts || to !== newest.sessionId) return;
    const paymentId = checkoutPaymentId(checkoutReference(id, paidBy.ordinal));
    await this.aggregates.execute(payment, paymentId, { kind: 'extend', to }, context);
  }

  private async record(
    id: string,
    { ordinal, sessionId, paymentIntentId, amountCents, currency }: Paid,
    history: readonly RecordedEvent[],
    context: ActionContext,
  ): Promise<void> {
    const opened = (history as readonly (RecordedEvent & CheckoutEvent)[]).find(
      (event): event is RecordedEvent & Opened => event.type === 'CheckoutOpened' && event.data.ordinal === ordinal,
    );
    if (opened === undefined) throw new Error(`The checkout ${id} was paid and never opened`);
    const { amountCents: askedCents, currency: askedCurrency, ...terms } = opened.data;
    const { applicationFeeCents, connectedAccount, refundAfterDays } = terms;
    const reference = checkoutReference(id, ordinal);
    const paid = { sessionId, reference, ordinal, amountCents, currency, paymentIntentId };
    const command = {
      kind: 'take-from-checkout',
      ...{ ...paid, applicationFeeCents, connectedAccount, ...(refundAfterDays && { refundAfterDays }) },
      asked: { amountCents: askedCents, currency: askedCurrency },
    } as const;
    const paymentId = checkoutPaymentId(reference);
    const { events } = await this.aggregates.execute(payment, paymentId, command, context);
    if (events.some(({ type }) => type === 'PaymentIntentAltered')) this.observer.altered(paymentId, context);
  }
}
