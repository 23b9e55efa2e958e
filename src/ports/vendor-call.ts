// What calls to every vendor have in common.

/** What every call carries. */
export interface VendorCall {
  /** Ours; the vendor's idempotency key. */
  readonly attemptId: string;
  /** Travels as `X-Request-Id`. */
  readonly correlationId: string;
}

/** The vendor cannot say or do it now. Nothing was decided and, for `unavailable`, nothing was executed. */
export type NoVerdict =
  /** Refused the connection, 503, or known not to have executed the call. */
  | { readonly kind: 'unavailable' }
  /** No complete answer within the time limit; the vendor may have executed the call. */
  | { readonly kind: 'timed-out' }
  /** An answer that cannot be classified (not JSON, a redirect, an unknown code); the vendor may have executed the call. */
  | { readonly kind: 'unintelligible' };
