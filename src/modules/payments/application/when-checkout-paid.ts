import { Injectable } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { EventStore } from '../../../ports/event-store.js';
import { Screenings } from '../../../published/screenings.js';
import { checkout, checkoutReference, guardEnd, partyIn, type CheckoutEvent } from '../domain/checkout.js';
import { checkoutPaymentId, payment } from '../domain/payment.js';
import { CheckoutPolicy } from './checkout-policy.js';
import { AlteredPaymentObserver } from './payment-reconciler.js';

type Paid = Extract<CheckoutEvent, { readonly type: 'CheckoutPaid' }>['data'];
type Anew = Extract<CheckoutEvent, { readonly type: 'RenterRegisteredAnew' }>['data'];
type Opened = Extract<CheckoutEvent, { readonly type: 'CheckoutOpened' }>;

/**
 * Records a paid hosted checkout as a payment, which is then reconciled and refunded like any other payment. The payment counts for the renter's
 * newest session and for each later session within the guard period. The renter is therefore not asked to pay again.
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
    private readonly store: EventStore,
    private readonly screenings: Screenings,
    private readonly policy: CheckoutPolicy,
    private readonly observer: AlteredPaymentObserver,
  ) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { id: causationId, stream, revision, metadata, ...event } = recorded as RecordedEvent & CheckoutEvent;
    const id = idOf(stream);
    const context = { ...systemContext('checkouts', metadata), correlationId: metadata.$correlationId, causationId };
    if (event.type === 'CheckoutPaid') return this.record(id, event.data, await this.events(stream), context);
    if (event.type !== 'RenterRegisteredAnew') return;
    const { sessionId: to, registeredAt } = event.data;
    const reference = await this.paidFor(id, event.data);
    if (reference === null) return;
    const newer = (await this.events(stream, revision + 1)).flatMap(({ type, data }) =>
      (type === 'CheckoutOpened' || type === 'RenterRegisteredAnew') && data.registeredAt > registeredAt
        ? [data.sessionId]
        : [],
    );
    await this.aggregates.execute(payment, checkoutPaymentId(reference), { kind: 'extend', to, newer }, context);
  }

  /** Reads the whole stream, because `load` keeps only the newest event of a long stream. */
  private async events(stream: string, from = 0): Promise<readonly CheckoutEvent[]> {
    return (await this.store.readStream(stream, { from })) as readonly (RecordedEvent & CheckoutEvent)[];
  }

  /** The payment that counts for this session, including a payment from before checkouts recorded their payments. Null if no payment counts. */
  private async paidFor(id: string, { sessionId, registeredAt }: Anew): Promise<string | null> {
    const paidBy = (await this.screenings.find(sessionId))?.paidBy ?? null;
    if (paidBy !== null && partyIn(paidBy) === id) return paidBy;
    const { state } = await this.aggregates.load(checkout, id);
    // The renter reads the report through the newest session.
    if (state.status === 'NONE' || state.paidBy === null || sessionId !== state.newest.sessionId) return null;
    const counts = Date.parse(registeredAt) < guardEnd(state.paidBy.at, this.policy.guardSeconds).getTime();
    return counts ? checkoutReference(id, state.paidBy.ordinal) : null;
  }

  private async record(
    id: string,
    { ordinal, sessionId, paymentIntentId, amountCents, currency }: Paid,
    history: readonly CheckoutEvent[],
    context: ActionContext,
  ): Promise<void> {
    const opened = history.find(
      (event): event is Opened => event.type === 'CheckoutOpened' && event.data.ordinal === ordinal,
    );
    if (opened === undefined) throw new Error(`The checkout ${id} was paid and never opened`);
    const { amountCents: askedCents, currency: askedCurrency, ...terms } = opened.data;
    const { applicationFeeCents, connectedAccount, refundAfterDays, vendor } = terms;
    const reference = checkoutReference(id, ordinal);
    const paid = { sessionId, reference, ordinal, amountCents, currency, paymentIntentId };
    const command = {
      kind: 'take-from-checkout',
      ...{ ...paid, applicationFeeCents, connectedAccount, ...(refundAfterDays && { refundAfterDays }) },
      ...(vendor && { vendor }),
      asked: { amountCents: askedCents, currency: askedCurrency },
    } as const;
    const paymentId = checkoutPaymentId(reference);
    const { events } = await this.aggregates.execute(payment, paymentId, command, context);
    if (events.some(({ type }) => type === 'PaymentIntentAltered')) this.observer.altered(paymentId, context);
  }
}
