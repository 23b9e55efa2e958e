import type { Charge } from '../../../ports/payment-processor.js';
import type { Price } from '../domain/payment.js';
import { splitFunds } from '../domain/split-funds.js';

/** Converts a price into the form of the processor's request. */
export function chargeOf(
  { amountCents, applicationFeeCents }: Price,
  { currency, connectedAccount }: { readonly currency: string; readonly connectedAccount: string | null },
): Charge {
  const { destination } = splitFunds(amountCents, applicationFeeCents, connectedAccount);
  return { amountCents, currency, connectedAccount: destination, applicationFeeCents };
}
