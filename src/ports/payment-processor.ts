// The payment processor. Only workers call the processor.
import type { Environment } from '../kernel/environment.js';
import type { NoVerdict, VendorCall } from './vendor-call.js';

/** The processor's own words for the state of an intent. */
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled';

/** A payment intent at the processor. Amounts are whole cents. */
export interface PaymentIntent {
  /** `pi_...` */
  readonly id: string;
  readonly status: IntentStatus;
  readonly amountCents: number;
  /** The received amount; 0 until the payment succeeded. */
  readonly receivedCents: number;
  /** The refunded amount. A refund that failed in the end does not count. */
  readonly refundedCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** The processor's code for the decline of the last try, such as `card_declined`; null if the last try was not declined. */
  readonly lastErrorCode: string | null;
  /** The service's transaction id in the intent; null for an intent that the service did not create. */
  readonly transactionId: string | null;
  /** For the consumer's browser. Only the vault stores this secret, and it is never logged. */
  readonly clientSecret: string;
}

/** The division of a charge between account and platform; see `splitFunds`. */
export interface Charge {
  readonly amountCents: number;
  readonly currency: string;
  /** `acct_...` of a destination charge. With null, the platform keeps the whole amount, and the fee is only recorded. */
  readonly connectedAccount: string | null;
  readonly applicationFeeCents: number;
}

/** The caller's own values, which a processor may refuse by its own rules. Notes are named individually. */
export type CallersPart = 'amount' | 'email' | 'successUrl' | 'cancelUrl' | 'description' | `notes.${string}`;

export type IntentVerdict =
  | { readonly kind: 'intent'; readonly intent: PaymentIntent }
  | { readonly kind: 'not-found' }
  /**
   * The processor refuses: the intent's state does not allow it, or the request or the configuration is wrong. `code` is the processor's own. `part`
   * names the caller's value that the processor refuses.
   */
  | { readonly kind: 'refused'; readonly code: string; readonly part?: CallersPart }
  /**
   * Nothing was done, and nothing will be done under this key: the request cannot be sent, or the processor repeats a failure for it. If the failed
   * call did create an object, no caller gets it. Another key may succeed.
   */
  | { readonly kind: 'not-made' }
  | NoVerdict;

/** `refunded`: the processor has accepted the refund. The intent has the total of its refunds. */
export type RefundVerdict = { readonly kind: 'refunded' } | Exclude<IntentVerdict, { kind: 'intent' }>;

/** A hosted checkout session at the processor. */
export interface CheckoutSession {
  /** `cs_...` */
  readonly id: string;
  /** `complete` may still wait for the money. */
  readonly status: 'open' | 'complete' | 'expired';
  /**
   * The page where the consumer pays; null if the session is not open. The address shows what the payment is for, so only the vault stores it, and
   * it is never logged.
   */
  readonly url: string | null;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** The received payment; null unless the session is paid. */
  readonly payment: { readonly intentId: string; readonly amountCents: number; readonly currency: string } | null;
}

/**
 * The details of the page other than the charge. The caller's own texts are personal data. These texts are encrypted on their way and never logged.
 */
export interface CheckoutPage {
  /** The service's transaction id in the session and its intent at the processor. */
  readonly reference: string;
  /** The screening session that is paid for. */
  readonly sessionId: string;
  /** May contain `{CHECKOUT_SESSION_ID}`, which the processor replaces with the session's id. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Shown under the name of the product. */
  readonly description: string | null;
  /** The payer's address, for the form. */
  readonly email: string | null;
  /** The caller's names for the people involved. The names are recorded for readers of the payment at the processor. */
  readonly notes: Readonly<Record<string, string>>;
}

export type CheckoutVerdict =
  { readonly kind: 'checkout'; readonly session: CheckoutSession } | Exclude<IntentVerdict, { kind: 'intent' }>;

/**
 * Creates, changes, looks up and refunds payment intents, and never confirms or captures one. Creates, looks up and expires hosted checkout sessions.
 * Every call has one time limit (`VENDOR_TIMEOUT`) over queueing and the whole exchange. Every call returns a value: a failure is a NoVerdict, never
 * thrown and never a decline. `attemptId` is the processor's idempotency key, the same for the same step of the same transaction. A call may
 * therefore be repeated until its outcome is known, and is executed once. No part of requests or answers is logged. Client secrets are only in the
 * vault, while the payment is open.
 */
export abstract class PaymentProcessor {
  abstract createIntent(
    call: VendorCall,
    charge: Charge,
    names: { readonly transactionId: string; readonly sessionId: string },
  ): Promise<IntentVerdict>;
  abstract changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict>;
  /** Changes nothing. `attemptId` only names the job. */
  abstract retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict>;
  /** Refunds the rest of the received amount. Both parts of a destination charge are refunded, as the intent has them. */
  abstract refundIntent(call: VendorCall, intentId: string): Promise<RefundVerdict>;

  /** Creates a session that is payable by card. A repeated call gets the first answer again, so it does not show a later payment. */
  abstract createCheckout(call: VendorCall, charge: Charge, page: CheckoutPage): Promise<CheckoutVerdict>;
  /** Changes nothing. `attemptId` only names the job. */
  abstract retrieveCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict>;
  /** Ends the session, so that it cannot be paid. Refused if the session is paid or has already ended. */
  abstract expireCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict>;
}

/** The ids in a webhook event from the processor. The service reads the named object at the processor, because it does not trust the event itself. */
export interface ProcessorWebhookEvent {
  /** `evt_...` */
  readonly eventId: string;
  readonly type: string;
  /** The environment of the payment. */
  readonly environment: Environment;
  /** Null unless the event concerns a payment intent, or a charge or refund of an intent. */
  readonly intentId: string | null;
  /** Set for an event about a hosted checkout session, otherwise null. */
  readonly checkoutSessionId: string | null;
  /** The service's transaction id in the intent or checkout session; null if the object of the event does not have it. */
  readonly transactionId: string | null;
}
