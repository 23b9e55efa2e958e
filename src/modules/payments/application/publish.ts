import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { checkout, type CheckoutEvent } from '../domain/checkout.js';
import { payment, type PaymentEvent } from '../domain/payment.js';
import { fold } from '../../../kernel/decider.js';

const TYPES = ['PaymentSucceeded'] as const satisfies readonly PaymentEvent['type'][];

/** What account holders hear of a payment. */
export const paymentPublisher: Publisher = {
  category: payment.category,
  types: new Set(TYPES),

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const last = history.at(-1);
    const state = fold(payment, history as readonly RecordedEvent<PaymentEvent>[]);
    if (!last || state.status === 'NONE') return null;
    const event = last as RecordedEvent & PaymentEvent;
    if (event.type !== 'PaymentSucceeded') return null;
    const { paymentIntentId, amountCents, currency } = event.data;
    return publishedAs(last, 'payment.succeeded', {
      session_id: state.sessionId,
      stripe_payment_intent_id: paymentIntentId,
      amount_cents: amountCents,
      currency,
    });
  },
};

/** What account holders hear of a hosted checkout: the same as of a payment intent. */
export const checkoutPublisher: Publisher = {
  category: checkout.category,
  types: new Set(['CheckoutPaid'] satisfies CheckoutEvent['type'][]),

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const last = history.at(-1);
    const event = last as (RecordedEvent & CheckoutEvent) | undefined;
    if (event?.type !== 'CheckoutPaid') return null;
    const { sessionId, paymentIntentId, amountCents, currency } = event.data;
    return publishedAs(event, 'payment.succeeded', {
      session_id: sessionId,
      stripe_payment_intent_id: paymentIntentId,
      amount_cents: amountCents,
      currency,
    });
  },
};
