import Stripe from 'stripe';
import * as v from 'valibot';
import type { ProcessorWebhookEvent } from '../../ports/payment-processor.js';
import { read, textLike } from '../../vendor-kit/reading.js';
import { checkoutId } from './checkout-wire.js';
import { intentId, intentReference } from './payment-wire.js';

const TOLERANCE_SECONDS = 300;
const signedEvent = v.object({
  object: v.literal('event'),
  id: textLike(/^evt_[\w-]{1,200}$/),
  type: textLike(/^[\w.]{1,100}$/),
  livemode: v.optional(v.unknown()),
  data: v.object({ object: v.optional(v.unknown()) }),
});
/** An intent, or a charge or refund of an intent. All other data are ignored, because the service fetches the intent. */
const ofIntent = v.union([
  v.object({ object: v.literal('payment_intent'), id: intentId }),
  v.pipe(
    v.object({ object: v.picklist(['charge', 'refund']), payment_intent: intentReference }),
    v.transform(({ payment_intent: id }) => ({ id })),
  ),
]);
const ofCheckout = v.object({ object: v.literal('checkout.session'), id: checkoutId });
const ofTransaction = v.object({
  object: v.picklist(['payment_intent', 'charge', 'checkout.session']),
  metadata: v.fallback(v.object({ transaction_id: v.optional(v.unknown()) }), {}),
  // Set for a checkout session, whose metadata may have been removed.
  client_reference_id: v.optional(v.unknown()),
});
/** A signature without a value. The SDK would treat such a signature as its caller's mistake. */
const HOLLOW = /(?:^|,)v1(?:,|$|=(?:[=,]|$))/;

/** Reads the processor's signed events. While a secret is being replaced, several secrets are valid. */
export class StripeWebhookEvents {
  constructor(private readonly secrets: readonly string[]) {}

  /** Null for a missing, forged or outdated signature, and for a body that is not an event. */
  read(body: Uint8Array, signature: string | undefined, now: Date): ProcessorWebhookEvent | null {
    if (
      signature === undefined ||
      HOLLOW.test(signature) ||
      !this.secrets.some((secret) => isSigned(body, signature, secret, now))
    )
      return null;
    const event = read(signedEvent, parsed(body));
    if (event === null) return null;
    const { object } = event.data;
    return {
      eventId: event.id,
      type: event.type,
      environment: event.livemode === true ? 'live' : 'test',
      intentId: read(ofIntent, object)?.id ?? null,
      checkoutSessionId: read(ofCheckout, object)?.id ?? null,
      transactionId: transactionIdIn(object),
    };
  }
}

function transactionIdIn(object: unknown): string | null {
  const named = read(ofTransaction, object);
  const transactionId = named?.metadata.transaction_id ?? named?.client_reference_id;
  return typeof transactionId === 'string' ? transactionId : null;
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

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // A holder of the secret may sign any text. A text that is not JSON is not an event.
    return null;
  }
}
