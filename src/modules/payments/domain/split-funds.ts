// Splits a payment between the account and the platform (docs/contract/platform.md#price). Pure.

export interface SplitFunds {
  /** The connected account that receives the money; null if the platform keeps it. */
  readonly destination: string | null;
  /** The platform's fee in a destination charge. Null if no destination exists, when the fee is only recorded. */
  readonly applicationFeeCents: number | null;
  readonly toAccountCents: number;
  readonly toPlatformCents: number;
}

/** Splits the amount into two parts of whole cents, whose sum is the amount. */
export function splitFunds(
  amountCents: number,
  applicationFeeCents: number,
  connectedAccount: string | null,
): SplitFunds {
  if (
    !Number.isSafeInteger(amountCents) ||
    !Number.isSafeInteger(applicationFeeCents) ||
    applicationFeeCents < 0 ||
    applicationFeeCents > amountCents
  ) {
    throw new RangeError('The fee must be whole cents within the amount');
  }
  if (connectedAccount === null)
    return { destination: null, applicationFeeCents: null, toAccountCents: 0, toPlatformCents: amountCents };
  return {
    destination: connectedAccount,
    applicationFeeCents,
    toAccountCents: amountCents - applicationFeeCents,
    toPlatformCents: applicationFeeCents,
  };
}
