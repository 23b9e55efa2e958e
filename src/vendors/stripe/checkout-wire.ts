// Writes requests for a hosted checkout session, and reads the processor's answers. Every field is checked.
import type Stripe from 'stripe';
import * as v from 'valibot';
import type { Charge, CheckoutPage, CheckoutSession, CheckoutVerdict } from '../../ports/payment-processor.js';
import { read, textLike } from '../../vendor-kit/reading.js';
import { cents, currency, intentReference } from './payment-wire.js';

export const checkoutId = textLike(/^cs_[\w-]{1,200}$/);
const address = v.pipe(v.string(), v.url(), v.regex(/^https?:/i));
const checkoutAnswer = v.intersect([
  v.object({
    object: v.literal('checkout.session'),
    id: checkoutId,
    expires_at: cents,
    client_reference_id: v.nullish(v.string()),
  }),
  v.variant('status', [
    v.object({ status: v.literal('open'), url: address }),
    v.object({ status: v.picklist(['complete', 'expired']) }),
  ]),
  v.variant('payment_status', [
    v.object({ payment_status: v.literal('unpaid') }),
    v.object({
      payment_status: v.literal('paid'),
      payment_intent: intentReference,
      amount_total: cents,
      currency,
    }),
  ]),
]);
/** The product name that the consumer reads. */
const PRODUCT = 'Tenant screening';

export function isCheckoutId(id: string): boolean {
  return v.is(checkoutId, id);
}

export function newCheckoutParameters(charge: Charge, page: CheckoutPage): Stripe.Checkout.SessionCreateParams {
  const { amountCents, currency, connectedAccount, applicationFeeCents } = charge;
  const names = { transaction_id: page.reference, session_id: page.sessionId };
  const money =
    connectedAccount === null
      ? { metadata: { ...names, application_fee_cents: String(applicationFeeCents) } }
      : {
          metadata: names,
          transfer_data: { destination: connectedAccount },
          ...(applicationFeeCents > 0 && { application_fee_amount: applicationFeeCents }),
        };
  return {
    mode: 'payment',
    // A card is charged at once. A bank payment may take days, and the report could not be released in this time.
    allowed_payment_method_types: ['card'],
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency,
          unit_amount: amountCents,
          product_data: { name: PRODUCT, ...(page.description !== null && { description: page.description }) },
        },
      },
    ],
    success_url: page.successUrl,
    cancel_url: page.cancelUrl,
    client_reference_id: page.reference,
    metadata: { ...page.notes, ...names },
    payment_intent_data: money,
    ...(page.email !== null && { customer_email: page.email }),
  };
}

/** The requested session. Unintelligible when a field is not that of a checkout session, or when the answer is about another session. */
export function readCheckout(
  answer: Stripe.Response<Stripe.Checkout.Session>,
  isTheOne: (session: CheckoutSession, reference: string | null) => boolean,
): CheckoutVerdict {
  const said = answer.lastResponse.statusCode === 200 ? read(checkoutAnswer, answer) : null;
  if (said === null) return { kind: 'unintelligible' };
  const session: CheckoutSession = {
    id: said.id,
    status: said.status,
    url: said.status === 'open' ? said.url : null,
    expiresAt: new Date(said.expires_at * 1_000).toISOString(),
    payment:
      said.payment_status === 'unpaid'
        ? null
        : { intentId: said.payment_intent, amountCents: said.amount_total, currency: said.currency },
  };
  const reference = said.client_reference_id ?? null;
  return isTheOne(session, reference) ? { kind: 'checkout', session } : { kind: 'unintelligible' };
}
