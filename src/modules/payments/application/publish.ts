import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
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
