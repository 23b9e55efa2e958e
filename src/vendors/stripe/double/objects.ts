// The objects in the processor's wire form: snake case, seconds since 1970, ids or whole objects.
import type { Charge, CheckoutSession, Decline, Intent, Refund } from './state.js';

export const API_VERSION = '2026-10-28.endive';

/** `chargeToo`: shows the latest charge as an object instead of its id, or with its refunds. */
export function intentObject(intent: Intent, chargeToo: boolean | 'with-refunds' = false): object {
  const latest = intent.charges.at(-1);
  return {
    ...publicIntentObject(intent),
    amount_capturable: 0,
    amount_received: intent.status === 'succeeded' ? intent.amount : 0,
    application_fee_amount: intent.applicationFee,
    customer: null,
    latest_charge: latest === undefined ? null : chargeToo ? chargeObject(latest, intent, chargeToo) : latest.id,
    metadata: intent.metadata,
    transfer_data: intent.destination === null ? null : { destination: intent.destination },
  };
}

/** The fields that a browser sees with the client secret and without a key. */
export function publicIntentObject(intent: Intent): object {
  return {
    id: intent.id,
    object: 'payment_intent',
    amount: intent.amount,
    canceled_at: seconds(intent.canceledAt),
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: intent.clientSecret,
    confirmation_method: 'automatic',
    created: seconds(intent.created),
    currency: intent.currency,
    description: null,
    last_payment_error: intent.lastDecline === null ? null : lastError(intent.lastDecline),
    livemode: false,
    next_action:
      intent.status === 'requires_action'
        ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'sandbox_authentication' } }
        : null,
    payment_method: intent.paymentMethod,
    payment_method_types: ['card', 'us_bank_account'],
    receipt_email: null,
    setup_future_usage: null,
    shipping: null,
    status: intent.status,
  };
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['insufficient_funds', 'Your card has insufficient funds.'],
  ['expired_card', 'Your card has expired.'],
  ['incorrect_cvc', "Your card's security code is incorrect."],
  ['processing_error', 'An error occurred while processing your card. Try again in a little bit.'],
  ['payment_intent_authentication_failure', 'The provided PaymentMethod has failed authentication.'],
]);

/** The message about a decline for the consumer. */
export function messageOf({ code, declineCode }: Decline): string {
  return MESSAGES.get(declineCode ?? '') ?? MESSAGES.get(code) ?? 'Your card was declined.';
}

function lastError(decline: Decline): object {
  const { code, declineCode } = decline;
  const type = code === 'payment_intent_authentication_failure' ? 'invalid_request_error' : 'card_error';
  return { type, code, decline_code: declineCode, message: messageOf(decline) };
}

export function chargeObject(charge: Charge, intent: Intent, shown?: unknown): object {
  const refunds = (charge.refunds ?? []).toReversed().map((refund) => refundObject(refund, charge, intent));
  return {
    id: charge.id,
    object: 'charge',
    amount: charge.amount,
    amount_captured: charge.status === 'succeeded' ? charge.amount : 0,
    amount_refunded: charge.refunded,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    captured: charge.status === 'succeeded',
    created: seconds(charge.created),
    currency: intent.currency,
    disputed: false,
    failure_code: charge.decline?.code ?? null,
    livemode: false,
    metadata: intent.metadata,
    paid: charge.status === 'succeeded',
    payment_intent: intent.id,
    refunded: charge.refunded === charge.amount,
    // A charge that was refunded before single refunds were recorded has no list of them.
    ...(shown === 'with-refunds' &&
      (charge.refunds !== undefined || charge.refunded === 0) && {
        refunds: { object: 'list', data: refunds, has_more: false, url: `/v1/charges/${charge.id}/refunds` },
      }),
    status: charge.status,
  };
}

export function refundObject(refund: Refund, charge: Charge, intent: Intent): object {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    charge: charge.id,
    created: seconds(refund.created),
    currency: intent.currency,
    payment_intent: intent.id,
    status: refund.failed ? 'failed' : 'succeeded',
    ...(refund.failed && { failure_reason: 'expired_or_canceled_card' }),
  };
}

export function sessionObject(session: CheckoutSession, intentToo: Intent | null = null): object {
  return {
    id: session.id,
    object: 'checkout.session',
    amount_subtotal: session.amount,
    amount_total: session.amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    created: seconds(session.created),
    currency: session.currency,
    custom_fields: [],
    custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
    customer_email: null,
    expires_at: seconds(session.expiresAt),
    livemode: false,
    metadata: session.metadata,
    mode: 'payment',
    payment_intent: intentToo === null ? session.intentId : intentObject(intentToo),
    payment_method_types: ['card'],
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    shipping_options: [],
    status: session.status,
    success_url: session.successUrl,
    url: session.status === 'open' ? session.url : null,
  };
}

export function eventObject(
  event: { readonly id: string; readonly type: string; readonly created: number; readonly key: string | null },
  object: object,
): object {
  return {
    id: event.id,
    object: 'event',
    api_version: API_VERSION,
    created: seconds(event.created),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: event.key },
    type: event.type,
  };
}

function seconds(time: number): number;
function seconds(time: number | null): number | null;
function seconds(time: number | null): number | null {
  return time === null ? null : Math.floor(time / 1_000);
}
