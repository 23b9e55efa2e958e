import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { checkout, type CheckoutEvent } from '../domain/checkout.js';
import { payment, transactionIdOf, type PaymentEvent } from '../domain/payment.js';
import { fold } from '../../../kernel/decider.js';

const TYPES = ['PaymentSucceeded', 'PaymentRefunded'] as const satisfies readonly PaymentEvent['type'][];

/** The published events of a payment, for account holders. */
export const paymentPublisher: Publisher = {
  category: payment.category,
  types: new Set(TYPES),

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const last = history.at(-1);
    const state = fold(payment, history as readonly RecordedEvent<PaymentEvent>[]);
    if (!last || state.status === 'NONE') return null;
    const event = last as RecordedEvent & PaymentEvent;
    switch (event.type) {
      case 'PaymentSucceeded': {
        const { paymentIntentId, amountCents, currency } = event.data;
        return publishedAs(last, 'payment.succeeded', {
          session_id: state.sessionId,
          stripe_payment_intent_id: paymentIntentId,
          amount_cents: amountCents,
          currency,
        });
      }
      case 'PaymentRefunded': {
        const { refundedCents, reasonCode } = event.data;
        // A refund that was made at the processor is not published.
        if (reasonCode === undefined) return null;
        return publishedAs(last, 'payment.refunded', {
          session_id: state.sessionId,
          transaction_id: transactionIdOf(idOf(last.stream), state.reference),
          amount_cents: refundedCents,
          currency: state.currency,
          reason_code: reasonCode,
        });
      }
      default:
        return null;
    }
  },
};

/** The published events of a hosted checkout, for account holders. Checkouts publish the same events as payment intents. */
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
