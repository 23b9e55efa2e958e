// Writes requests for a payment intent, and reads the processor's answers and errors. Every field is checked.
import Stripe from 'stripe';
import * as v from 'valibot';
import type {
  CallersPart,
  Charge,
  IntentStatus,
  IntentVerdict,
  PaymentIntent,
  RefundVerdict,
} from '../../ports/payment-processor.js';
import { read, textLike, whole } from '../../vendor-kit/reading.js';
import { ExchangeFailed } from './payment-exchange.js';

/**
 * `again`: the result of the call is unknown, and a repeated call with the same key will get it. `failed`: the result is unknown after a fault of the
 * processor. A repeated call may get the same fault.
 */
export type Unsettled = Exclude<IntentVerdict, { kind: 'intent' }> | { readonly kind: 'again' | 'failed' };

export const intentId = textLike(/^pi_[\w-]{1,200}$/);
/** An intent, or its id. */
export const intentReference = v.union([
  intentId,
  v.pipe(
    v.object({ id: intentId }),
    v.transform(({ id }) => id),
  ),
]);
export const cents = whole(0, Number.MAX_SAFE_INTEGER);
export const currency = v.pipe(textLike(/^[a-z]{3}$/i), v.toLowerCase());
const named = v.pipe(v.string(), v.minLength(1));
const CODE = /^\w{1,100}$/;

const intentAnswer = v.object({
  object: v.literal('payment_intent'),
  id: intentId,
  status: v.picklist([
    'requires_payment_method',
    'requires_confirmation',
    'requires_action',
    'processing',
    'requires_capture',
    'succeeded',
    'canceled',
  ] satisfies readonly IntentStatus[]),
  amount: cents,
  amount_received: cents,
  currency,
  client_secret: named,
  metadata: v.fallback(v.object({ transaction_id: v.nullable(named) }), { transaction_id: null }),
  last_payment_error: v.nullish(v.record(v.string(), v.unknown())),
});

export function isIntentId(id: string): boolean {
  return v.is(intentId, id);
}

export function newIntentParameters(
  charge: Charge,
  names: { readonly transactionId: string; readonly sessionId: string },
): Stripe.PaymentIntentCreateParams {
  const { amountCents, currency, connectedAccount, applicationFeeCents } = charge;
  const metadata = { transaction_id: names.transactionId, session_id: names.sessionId };
  // The payment is confirmed in a frame. A payment method that leaves the page would interrupt the person's work there.
  const methods = { enabled: true, allow_redirects: 'never' } as const;
  const common = { amount: amountCents, currency, automatic_payment_methods: methods };
  if (connectedAccount === null)
    return { ...common, metadata: { ...metadata, application_fee_cents: String(applicationFeeCents) } };
  const fee = applicationFeeCents === 0 ? {} : { application_fee_amount: applicationFeeCents };
  return { ...common, ...fee, metadata, transfer_data: { destination: connectedAccount } };
}

/** The receiver of the money is set when the intent is created. The processor does not allow a change of the receiver. */
export function changedIntentParameters({
  amountCents,
  currency,
  connectedAccount,
  applicationFeeCents,
}: Charge): Stripe.PaymentIntentUpdateParams {
  const common = { amount: amountCents, currency };
  if (connectedAccount === null) return { ...common, metadata: { application_fee_cents: String(applicationFeeCents) } };
  return { ...common, application_fee_amount: applicationFeeCents === 0 ? '' : applicationFeeCents };
}

/** Parameters that refund every part of an intent. The processor refuses to return a transfer or a fee that does not exist. */
export function readParts(
  answer: Stripe.Response<Stripe.PaymentIntent>,
  intentId: string,
): { readonly kind: 'parts'; readonly parameters: Stripe.RefundCreateParams } | { readonly kind: 'unintelligible' } {
  const {
    id,
    object,
    transfer_data: transfer = null,
    application_fee_amount: fee = null,
  } = answer as Partial<typeof answer>;
  const isIntent = answer.lastResponse.statusCode === 200 && object === 'payment_intent' && id === intentId;
  if (!isIntent || (fee !== null && !isCents(fee))) return { kind: 'unintelligible' };
  const parts = {
    ...(transfer !== null && { reverse_transfer: true }),
    ...(transfer !== null && fee !== null && fee > 0 && { refund_application_fee: true }),
  };
  return { kind: 'parts', parameters: { payment_intent: intentId, ...parts } };
}

/** Unintelligible unless the answer is a refund of this intent. The money of a pending refund is on its way to the consumer. */
export function readRefund(answer: Stripe.Response<Stripe.Refund>, intentId: string): RefundVerdict {
  const { object, payment_intent, status, failure_reason } = answer as Partial<typeof answer>;
  const isRefund = answer.lastResponse.statusCode === 200 && object === 'refund' && payment_intent === intentId;
  if (isRefund && (status === 'succeeded' || status === 'pending' || status === 'requires_action'))
    return { kind: 'refunded' };
  if (isRefund && (status === 'failed' || status === 'canceled'))
    return { kind: 'refused', code: codeOf(failure_reason ?? status) ?? 'unlisted' };
  return { kind: 'unintelligible' };
}

/** The requested intent. Unintelligible when a field is not that of an intent, or when the answer is about another intent. */
export function readIntent(
  answer: Stripe.Response<Stripe.PaymentIntent>,
  isTheOne: (intent: PaymentIntent) => boolean,
): IntentVerdict {
  const said = answer.lastResponse.statusCode === 200 ? read(intentAnswer, answer) : null;
  const refundedCents = refundedOf(answer.latest_charge);
  if (said === null || !isCents(refundedCents)) return { kind: 'unintelligible' };
  const { last_payment_error: error } = said;
  const intent: PaymentIntent = {
    id: said.id,
    status: said.status,
    amountCents: said.amount,
    receivedCents: said.amount_received,
    refundedCents,
    currency: said.currency,
    lastErrorCode: codeOf(error?.code ?? error?.decline_code ?? error?.type),
    transactionId: said.metadata.transaction_id,
    clientSecret: said.client_secret,
  };
  return isTheOne(intent) ? { kind: 'intent', intent } : { kind: 'unintelligible' };
}

/** `aboutOne`: the call named an intent, so a missing resource is that intent. Rethrows errors that are not the processor's. */
export function readError(error: unknown, aboutOne: boolean): Unsettled {
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  if (error.detail instanceof ExchangeFailed) return readEnd(error.detail);
  return readRefusal(error, aboutOne);
}

function readRefusal(error: Stripe.errors.StripeError, aboutOne: boolean): Unsettled {
  const { statusCode = 0, code } = error;
  // The HTTP client did not accept the request.
  if (statusCode === 0) return { kind: 'not-made' };
  if (statusCode < 400 || statusCode > 499) return { kind: 'unintelligible' };
  // The earlier call with this key is still being executed.
  if (statusCode === 409 && code === 'idempotency_key_in_use') return { kind: 'again' };
  if (code === 'rate_limit' || code === 'lock_timeout') return { kind: 'unavailable' };
  if (statusCode === 404 && code === 'resource_missing' && aboutOne) return { kind: 'not-found' };
  return refused(error);
}

function refused({ code, rawType, param }: Stripe.errors.StripeError): Unsettled {
  const part = partOf(param);
  return { kind: 'refused', code: codeOf(code ?? rawType) ?? 'unlisted', ...(part !== undefined && { part }) };
}

const PARTS: Readonly<Record<string, CallersPart>> = {
  amount: 'amount',
  customer_email: 'email',
  success_url: 'successUrl',
  cancel_url: 'cancelUrl',
  'line_items[0][price_data][product_data][description]': 'description',
};

/** Undefined for a parameter that the service sets itself. */
function partOf(parameter = ''): CallersPart | undefined {
  const [, note] = /^metadata\[(\w{1,40})\]$/.exec(parameter) ?? [];
  return note === undefined ? (Object.hasOwn(PARTS, parameter) ? PARTS[parameter] : undefined) : `notes.${note}`;
}

function readEnd({ end, status, retryAfterSeconds }: ExchangeFailed): Unsettled {
  switch (end) {
    case 'unavailable':
      return { kind: end, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
    case 'timed-out':
      return { kind: end };
    case 'unusable':
      return { kind: 'unintelligible' };
    case 'ambiguous':
      return { kind: status === undefined ? 'again' : 'failed' };
    default:
      return end satisfies never;
  }
}

const CHARGE_STATES: readonly string[] = ['succeeded', 'pending', 'failed'];

/**
 * Null if the charge has an unknown state. Zero when the expanded charge is missing, because the intent alone shows no refunds. The charge's own sum
 * may still include a failed refund.
 */
function refundedOf(charge: Stripe.PaymentIntent['latest_charge'] | undefined): unknown {
  if (charge === null || charge === undefined || typeof charge === 'string') return 0;
  const { amount_refunded, refunds, status } = charge as Partial<typeof charge>;
  if (!CHARGE_STATES.includes(String(status))) return null;
  if (!isCents(amount_refunded) || !Array.isArray(refunds?.data) || refunds.has_more) return amount_refunded;
  const given = refunds.data.filter((refund) => refund.status !== 'failed' && refund.status !== 'canceled');
  return Math.min(
    amount_refunded,
    given.reduce((sum, { amount }) => sum + amount, 0),
  );
}

function isCents(amount: unknown): amount is number {
  return v.is(cents, amount);
}

/** Logs and events contain these codes, so any other text is replaced. */
function codeOf(code: unknown): string | null {
  if (code === null || code === undefined) return null;
  return typeof code === 'string' && CODE.test(code) ? code : 'unlisted';
}
