// The price for a consumer (docs/contract/platform.md#price). All amounts are cents.

/** The smallest amount that the processor accepts. */
const MIN_AMOUNT_CENTS = 50;
const MAX_APPLICATION_FEE_CENTS = 1_000_000;

/** The application fee in the settings of an account and of a grant; null if they set none. */
export interface FeeTerms {
  readonly fixedByAccount: number | null;
  readonly saidByGrant: number | null;
  readonly most: number | null;
}

/** The lowest price for the consumer when the account charges at least `feeCents`. */
export function leastAmountCents(feeCents: number, { fixedByAccount, saidByGrant }: FeeTerms): number {
  return Math.max(MIN_AMOUNT_CENTS, feeCents, fixedByAccount ?? saidByGrant ?? 0);
}

/** The largest part of that amount that the platform keeps. */
export function mostApplicationFeeCents(amountCents: number, { saidByGrant, most }: FeeTerms): number {
  // The fee of a grant was within the limit when the grant was minted. The fee stays valid when the limit is lowered.
  const bound = Math.max(most ?? MAX_APPLICATION_FEE_CENTS, saidByGrant ?? 0);
  return Math.min(amountCents, MAX_APPLICATION_FEE_CENTS, bound);
}
