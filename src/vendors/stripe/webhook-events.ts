import Stripe from 'stripe';
import { type ProcessorWebhookEvent, ProcessorWebhookEvents } from '../../ports/payment-processor.js';
import { isCheckoutId } from './checkout-wire.js';
import { isIntentId } from './payment-wire.js';

const TOLERANCE_SECONDS = 300;
const EVENT_ID = /^evt_[\w-]{1,200}$/;
const TYPE = /^[\w.]{1,100}$/;
/** A signature without a value, which the SDK takes for a fault of its caller's. */
const HOLLOW = /(?:^|,)v1(?:,|$|=(?:[=,]|$))/;

/** Reads the processor's signed events. Several secrets are valid at once while one replaces another. */
export class StripeWebhookEvents extends ProcessorWebhookEvents {
  override readonly signatureHeader = 'stripe-signature';

  constructor(private readonly secrets: readonly string[]) {
    super();
  }

  override read(body: Uint8Array, signature: string | undefined, now: Date): ProcessorWebhookEvent | null {
    if (
      signature === undefined ||
      HOLLOW.test(signature) ||
      !this.secrets.some((secret) => isSigned(body, signature, secret, now))
    )
      return null;
    const event = parsed(body);
    if (!isObject(event) || event.object !== 'event' || !isObject(event.data)) return null;
    const { id, type } = event;
    if (typeof id !== 'string' || !EVENT_ID.test(id) || typeof type !== 'string' || !TYPE.test(type)) return null;
    return {
      eventId: id,
      type,
      environment: event.livemode === true ? 'live' : 'test',
      intentId: intentOf(event.data.object),
      checkoutSessionId: checkoutOf(event.data.object),
      transactionId: transactionOf(event.data.object),
    };
  }
}

function isSigned(body: Uint8Array, signature: string, secret: string, now: Date): boolean {
  try {
    return (
      Stripe.webhooks.signature?.verifyHeader(body, signature, secret, TOLERANCE_SECONDS, undefined, now.getTime()) ??
      false
    );
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
}

/** Of an intent, or of a charge or refund of one. Whatever else the event says is left aside: the intent is fetched. */
function intentOf(object: unknown): string | null {
  if (!isObject(object)) return null;
  const intent =
    object.object === 'payment_intent'
      ? object
      : object.object === 'charge' || object.object === 'refund'
        ? object.payment_intent
        : null;
  const id = isObject(intent) ? intent.id : intent;
  return typeof id === 'string' && isIntentId(id) ? id : null;
}

function checkoutOf(object: unknown): string | null {
  if (!isObject(object) || object.object !== 'checkout.session') return null;
  return typeof object.id === 'string' && isCheckoutId(object.id) ? object.id : null;
}

/** Intents carry it, charges of them, and checkout sessions. */
const NAMED: readonly unknown[] = ['payment_intent', 'charge', 'checkout.session'];

function transactionOf(object: unknown): string | null {
  if (!isObject(object) || !NAMED.includes(object.object)) return null;
  const named = isObject(object.metadata) ? object.metadata.transaction_id : undefined;
  // Of a checkout session; its metadata may have been removed.
  const id = named ?? object.client_reference_id;
  return typeof id === 'string' ? id : null;
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // A holder of the secret may sign anything; what is not JSON is no event.
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
