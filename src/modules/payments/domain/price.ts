import { leastAmountCents, mostApplicationFeeCents, type FeeTerms } from '../../../kernel/consumer-price.js';
import { fieldError } from '../../../kernel/domain-error.js';
import type { Price } from './payment.js';

const MAX_AMOUNT_CENTS = 99_999_999;

/**
 * The application fee that applies (docs/contract/platform.md#price): the account's fee, or else the grant's, or else the page's. A page may not
 * contradict its grant.
 */
export function applicationFeeOf(said: number | null, { fixedByAccount, saidByGrant }: FeeTerms): number {
  if (said !== null && saidByGrant !== null && said !== saidByGrant)
    throw fieldError('request.invalid', 'payment.applicationFee', `must be ${saidByGrant}, as the session grant says`);
  return fixedByAccount ?? saidByGrant ?? said ?? 0;
}

/** Refuses a price that may not be charged (docs/contract/platform.md#price). `feeCents`: the account's lowest price for one screening. */
export function admitPrice(price: Price, feeCents: number, terms: FeeTerms): void {
  const [amount, fee] = boundsOf(price, feeCents, terms);
  if (!isWithin(price.amountCents, amount))
    throw fieldError(
      'request.invalid',
      'payment.amount',
      `must be a whole number of cents from ${amount.least} to ${amount.most}`,
    );
  if (!isWithin(price.applicationFeeCents, fee))
    throw fieldError(
      'request.invalid',
      'payment.applicationFee',
      `must be a whole number of cents from 0 to ${fee.most}`,
    );
}

/** The price of a hosted checkout is the account's fee. Null if the account has no hosted checkouts. */
export function checkoutPrice(account: {
  readonly feeCents: number;
  readonly applicationFeeCents: number | null;
  readonly maxApplicationFeeCents: number | null;
}): Price | null {
  const { feeCents: amountCents, applicationFeeCents: fixedByAccount, maxApplicationFeeCents: most } = account;
  const terms = { fixedByAccount, saidByGrant: null, most };
  const price = { amountCents, applicationFeeCents: applicationFeeOf(null, terms) };
  const [amount, fee] = boundsOf(price, amountCents, terms);
  return isWithin(amountCents, amount) && isWithin(price.applicationFeeCents, fee) ? price : null;
}

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The limits of the amount and of the application fee within it. */
function boundsOf({ amountCents }: Price, feeCents: number, terms: FeeTerms): readonly [amount: Bounds, fee: Bounds] {
  return [
    { least: leastAmountCents(feeCents, terms), most: MAX_AMOUNT_CENTS },
    { least: 0, most: mostApplicationFeeCents(amountCents, terms) },
  ];
}

function isWithin(cents: number, { least, most }: Bounds): boolean {
  return Number.isSafeInteger(cents) && cents >= least && cents <= most;
}
