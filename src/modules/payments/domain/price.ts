import { fieldError } from '../../../kernel/domain-error.js';
import type { Price } from './payment.js';

/** The processor takes no less, whatever the account's fee is. */
const MIN_AMOUNT_CENTS = 50;
const MAX_AMOUNT_CENTS = 99_999_999;
const MAX_FEE_CENTS = 1_000_000;

/** What an account and a grant say of the application fee; null where one says nothing. Cents. */
export interface FeeTerms {
  readonly fixedByAccount: number | null;
  readonly saidByGrant: number | null;
  readonly most: number | null;
}

/** The application fee that counts (docs/contract/platform.md#price): the account's, else the grant's, else the page's. A page may not contradict its grant. */
export function applicationFeeOf(said: number | null, { fixedByAccount, saidByGrant }: FeeTerms): number {
  if (said !== null && saidByGrant !== null && said !== saidByGrant)
    throw fieldError('request.invalid', 'payment.applicationFee', `must be ${saidByGrant}, as the session grant says`);
  return fixedByAccount ?? saidByGrant ?? said ?? 0;
}

/** Refuses what may not be charged (docs/contract/platform.md#price). `feeCents` is what the account asks at least for one screening. */
export function admitPrice({ amountCents, applicationFeeCents }: Price, feeCents: number, terms: FeeTerms): void {
  const least = Math.max(MIN_AMOUNT_CENTS, feeCents, terms.fixedByAccount ?? terms.saidByGrant ?? 0);
  if (!Number.isSafeInteger(amountCents) || amountCents < least || amountCents > MAX_AMOUNT_CENTS) {
    throw fieldError(
      'request.invalid',
      'payment.amount',
      `must be a whole number of cents from ${least} to ${MAX_AMOUNT_CENTS}`,
    );
  }
  // What a grant says was within the bound when it was minted, and stands when the bound is lowered.
  const bound = Math.max(terms.most ?? MAX_FEE_CENTS, terms.saidByGrant ?? 0);
  const most = Math.min(amountCents, MAX_FEE_CENTS, bound);
  if (!Number.isSafeInteger(applicationFeeCents) || applicationFeeCents < 0 || applicationFeeCents > most) {
    throw fieldError('request.invalid', 'payment.applicationFee', `must be a whole number of cents from 0 to ${most}`);
  }
}
