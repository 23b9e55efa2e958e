// The processor's state: intents with their charges, and checkout sessions. Amounts are in cents, times in milliseconds since 1970.

export interface Decline {
  readonly code: string;
  readonly declineCode: string | null;
}

export type IntentStatus =
  'requires_payment_method' | 'requires_confirmation' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';

export interface TakenBack {
  readonly transfer: boolean;
  readonly fee: boolean;
}

export interface Refund {
  readonly id: string;
  readonly amount: number;
  readonly created: number;
  /** The bank refused the refund, so the money was returned. */
  readonly failed?: true;
}

export interface Charge {
  readonly id: string;
  readonly status: 'succeeded' | 'pending' | 'failed';
  readonly amount: number;
  readonly refunded: number;
  /** The parts of a destination charge that its refunds took back. */
  readonly takenBack?: TakenBack;
  /** The refunds in order. Absent without refunds, and in older records. */
  readonly refunds?: readonly Refund[];
  readonly created: number;
  readonly decline: Decline | null;
}

export interface Intent {
  readonly id: string;
  readonly clientSecret: string;
  readonly status: IntentStatus;
  readonly amount: number;
  readonly currency: string;
  readonly applicationFee: number | null;
  /** The account that receives the rest of the money; null if the platform keeps it. */
  readonly destination: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly paymentMethod: string | null;
  readonly lastDecline: Decline | null;
  /** Every try to pay, in order. */
  readonly charges: readonly Charge[];
  readonly created: number;
  readonly canceledAt: number | null;
  /** The time at which a processing payment is decided. */
  readonly settlesAt: number | null;
}

export interface CheckoutSession {
  readonly id: string;
  readonly status: 'open' | 'complete' | 'expired';
  readonly url: string;
  readonly productName: string;
  readonly amount: number;
  readonly currency: string;
  readonly applicationFee: number | null;
  readonly destination: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** The metadata of the session's intent. */
  readonly intentMetadata: Readonly<Record<string, string>>;
  readonly intentId: string | null;
  readonly created: number;
  readonly expiresAt: number;
}
