// How a hosted checkout session is asked for, and how the processor's answers are read. Nothing here is taken on trust.
import type Stripe from 'stripe';
import type { Charge, CheckoutPage, CheckoutSession, CheckoutVerdict } from '../../ports/payment-processor.js';
import { isCents, isIntentId } from './payment-wire.js';

const CHECKOUT_ID = /^cs_[\w-]{1,200}$/;
const STATUSES: readonly string[] = ['open', 'complete', 'expired'] satisfies readonly CheckoutSession['status'][];
/** What the consumer reads that they pay for. */
const PRODUCT = 'Tenant screening';

export function isCheckoutId(id: string): boolean {
  return CHECKOUT_ID.test(id);
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
    // A card says at once whether it pays; a bank may take days, in which nobody knows whether the report may be seen.
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

/** Unintelligible unless it is, field for field, a checkout session, and the one that was asked for. */
export function readCheckout(
  answer: Stripe.Response<Stripe.Checkout.Session>,
  isTheOne: (session: CheckoutSession, reference: string | null) => boolean,
): CheckoutVerdict {
  const { id, object, status, url, expires_at, client_reference_id } = answer as Partial<typeof answer>;
  const isSession =
    answer.lastResponse.statusCode === 200 &&
    object === 'checkout.session' &&
    typeof id === 'string' &&
    isCheckoutId(id) &&
    isCents(expires_at);
  const payment = paymentOf(answer);
  if (!isSession || !isStatus(status) || payment === 'unreadable') return { kind: 'unintelligible' };
  if (status === 'open' && !isWebAddress(url)) return { kind: 'unintelligible' };
  const session: CheckoutSession = {
    id,
    status,
    url: status === 'open' && typeof url === 'string' ? url : null,
    expiresAt: new Date(expires_at * 1_000).toISOString(),
    payment,
  };
  return isTheOne(session, client_reference_id ?? null) ? { kind: 'checkout', session } : { kind: 'unintelligible' };
}

/** Null: not paid. */
function paymentOf({
  payment_status,
  payment_intent,
  amount_total,
  currency,
}: Partial<Stripe.Checkout.Session>): CheckoutSession['payment'] | 'unreadable' {
  if (payment_status === 'unpaid') return null;
  const intentId: unknown = typeof payment_intent === 'object' ? payment_intent?.id : payment_intent;
  const isPaid =
    payment_status === 'paid' &&
    typeof intentId === 'string' &&
    isIntentId(intentId) &&
    isCents(amount_total) &&
    typeof currency === 'string' &&
    /^[a-z]{3}$/i.test(currency);
  return isPaid ? { intentId, amountCents: amount_total, currency: currency.toLowerCase() } : 'unreadable';
}

function isStatus(status: unknown): status is CheckoutSession['status'] {
  return typeof status === 'string' && STATUSES.includes(status);
}

function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
