// What a consumer pays (docs/contract/platform.md#price). All amounts are cents.

/** The processor takes no less, whatever the account's fee is. */
const MIN_AMOUNT_CENTS = 50;
const MAX_APPLICATION_FEE_CENTS = 1_000_000;

/** What an account and a grant say of the application fee; null where one says nothing. */
export interface FeeTerms {
  readonly fixedByAccount: number | null;
  readonly saidByGrant: number | null;
  readonly most: number | null;
}

/** The least that a consumer pays where the account asks `feeCents` at least. */
export function leastAmountCents(feeCents: number, { fixedByAccount, saidByGrant }: FeeTerms): number {
  return Math.max(MIN_AMOUNT_CENTS, feeCents, fixedByAccount ?? saidByGrant ?? 0);
}

/** The most that the platform keeps of that amount. */
export function mostApplicationFeeCents(amountCents: number, { saidByGrant, most }: FeeTerms): number {
  // What a grant says was within the bound when it was minted, and stands when the bound is lowered.
  const bound = Math.max(most ?? MAX_APPLICATION_FEE_CENTS, saidByGrant ?? 0);
  return Math.min(amountCents, MAX_APPLICATION_FEE_CENTS, bound);
}
