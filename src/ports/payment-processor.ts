// The payment processor. Called in workers only.
import type { Environment } from '../kernel/environment.js';
import type { NoVerdict, VendorCall } from './vendor-call.js';

/** The processor's own words for where an intent stands. */
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled';

/** A payment intent as the processor has it. Amounts are integer cents. */
export interface PaymentIntent {
  /** `pi_...` */
  readonly id: string;
  readonly status: IntentStatus;
  readonly amountCents: number;
  /** What was received; 0 until it succeeded. */
  readonly receivedCents: number;
  /** What the consumer got back; a refund that failed in the end does not count. */
  readonly refundedCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** The processor's code for why the last try was declined, such as `card_declined`; null when none was. */
  readonly lastErrorCode: string | null;
  /** What we called it when we created it; null for an intent that is not ours. */
  readonly transactionId: string | null;
  /** For the consumer's browser: kept in the vault only, never logged. */
  readonly clientSecret: string;
}

/** Who gets what of a charge; see `splitFunds`. */
export interface Charge {
  readonly amountCents: number;
  readonly currency: string;
  /** `acct_...` of a destination charge; null: the platform keeps all, and the fee is only noted. */
  readonly connectedAccount: string | null;
  readonly applicationFeeCents: number;
}

/** What the caller says, and a processor may refuse by rules of its own. Of notes the name. */
export type CallersPart = 'amount' | 'email' | 'successUrl' | 'cancelUrl' | 'description' | `notes.${string}`;

export type IntentVerdict =
  | { readonly kind: 'intent'; readonly intent: PaymentIntent }
  | { readonly kind: 'not-found' }
  /**
   * The processor will not do it: the intent's state does not allow it, or what we sent or our configuration is wrong. `code` is the processor's
   * own; `part`: which of the caller's own words it does not take.
   */
  | { readonly kind: 'refused'; readonly code: string; readonly part?: CallersPart }
  /**
   * Nothing was done, and under this key nothing will be: the request cannot be sent, or the processor failed and keeps that answer. What
   * a creation has made all the same is given to nobody. Another key may do better.
   */
  | { readonly kind: 'not-made' }
  | NoVerdict;

/** `refunded`: the processor has taken it on. The intent tells the sum. */
export type RefundVerdict = { readonly kind: 'refunded' } | Exclude<IntentVerdict, { kind: 'intent' }>;

/** A hosted checkout session as the processor has it. */
export interface CheckoutSession {
  /** `cs_...` */
  readonly id: string;
  /** `complete` may still wait for the money. */
  readonly status: 'open' | 'complete' | 'expired';
  /** Where the consumer pays; null once it is not open. Whoever knows it may see what is paid for: kept in the vault only, never logged. */
  readonly url: string | null;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** What was received; null unless it is paid. */
  readonly payment: { readonly intentId: string; readonly amountCents: number; readonly currency: string } | null;
}

/** What the page is made with besides the charge. The caller's own words are personal data: sealed on their way, never logged. */
export interface CheckoutPage {
  /** Ours; what the session and its intent are called at the processor. */
  readonly reference: string;
  /** The screening session that is paid for. */
  readonly sessionId: string;
  /** May hold `{CHECKOUT_SESSION_ID}`, in place of which the processor puts the session's id. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Shown under the name of what is paid for. */
  readonly description: string | null;
  /** Of who pays, for the form. */
  readonly email: string | null;
  /** What the caller calls those involved, noted for whoever looks at the payment at the processor. */
  readonly notes: Readonly<Record<string, string>>;
}

export type CheckoutVerdict =
  { readonly kind: 'checkout'; readonly session: CheckoutSession } | Exclude<IntentVerdict, { kind: 'intent' }>;

/**
 * Creates, changes, looks up and refunds payment intents, never confirms or captures one; creates, looks up and expires hosted checkout sessions. Every call has one time limit
 * (`VENDOR_TIMEOUT`) over queueing and the whole exchange, and answers with a value: trouble is a NoVerdict, never an
 * exception and never a decline. `attemptId` is the idempotency key as the processor gets it, the same for the same step of
 * the same transaction, so that a call may be repeated until its outcome is known and is executed once. Nothing of
 * requests or answers is logged; client secrets are kept in the vault only, while the payment is open.
 */
export abstract class PaymentProcessor {
  abstract createIntent(
    call: VendorCall,
    charge: Charge,
    names: { readonly transactionId: string; readonly sessionId: string },
  ): Promise<IntentVerdict>;
  abstract changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict>;
  /** Changes nothing; `attemptId` only names the job. */
  abstract retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict>;
  /** Gives back all that is left of what was received; of a destination charge both parts come back, as the intent has them. */
  abstract refundIntent(call: VendorCall, intentId: string): Promise<RefundVerdict>;

  /** Payable by card. What came of it is not in a repeated answer: that one is as old as the first. */
  abstract createCheckout(call: VendorCall, charge: Charge, page: CheckoutPage): Promise<CheckoutVerdict>;
  /** Changes nothing; `attemptId` only names the job. */
  abstract retrieveCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict>;
  /** Afterwards nobody can pay it. Refused when it is paid, or is over already. */
  abstract expireCheckout(call: VendorCall, checkoutSessionId: string): Promise<CheckoutVerdict>;
}

/** What an event of the processor's points at. What happened is not taken from it: the object is fetched. */
export interface ProcessorWebhookEvent {
  /** `evt_...` */
  readonly eventId: string;
  readonly type: string;
  /** Of live money, or of the test environment's. */
  readonly environment: Environment;
  /** Null when the event is about something else than a payment intent, or a charge or refund of one. */
  readonly intentId: string | null;
  /** Of an event about a hosted checkout session; null for others. */
  readonly checkoutSessionId: string | null;
  /** What we called the intent or the checkout session when we created it; null where the object of the event does not say it. */
  readonly transactionId: string | null;
}

/** Reads what arrives at the internal listener. Pure and synchronous. */
export abstract class ProcessorWebhookEvents {
  /** Name of the header that holds the signature, in lowercase. */
  abstract readonly signatureHeader: string;
  /** Null for a missing, forged or outdated signature, and for a body that is no event. `signature` is the header's value. */
  abstract read(body: Uint8Array, signature: string | undefined, now: Date): ProcessorWebhookEvent | null;
}
