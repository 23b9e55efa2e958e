import { Refusal } from '../../../kernel/refusal.js';
import type { Price } from './payment.js';

/** The processor takes no less, whatever the account's fee is. */
const MIN_AMOUNT_CENTS = 50;
const MAX_AMOUNT_CENTS = 99_999_999;
const MAX_FEE_CENTS = 1_000_000;

/** Refuses what may not be charged (decisions 4.1). `feeCents` is what the account asks at least for one screening. */
export function admitPrice({ amountCents, applicationFeeCents }: Price, feeCents: number): void {
  const least = Math.max(MIN_AMOUNT_CENTS, feeCents);
  if (!Number.isSafeInteger(amountCents) || amountCents < least || amountCents > MAX_AMOUNT_CENTS) {
    throw wrong('amount', `must be a whole number of cents from ${least} to ${MAX_AMOUNT_CENTS}`);
  }
  const most = Math.min(amountCents, MAX_FEE_CENTS);
  if (!Number.isSafeInteger(applicationFeeCents) || applicationFeeCents < 0 || applicationFeeCents > most) {
    throw wrong('applicationFee', `must be a whole number of cents from 0 to ${most}`);
  }
}

function wrong(field: string, message: string): Refusal {
  return new Refusal('request.invalid', { field, details: [{ field, message }] });
}
