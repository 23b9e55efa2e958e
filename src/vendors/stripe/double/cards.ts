// The test cards. Typed card data are checked and not stored. Only the payment method of the card is stored.
import { ProcessorError, invalid } from './errors.js';
import type { FormEntries, Parameters } from './form.js';

interface TestCard {
  readonly method: string;
  readonly what: string;
  /** The payment continues after the confirmation. The hosted page has no script, so it does not accept this card. */
  readonly needsScript?: true;
}

const CARDS: ReadonlyMap<string, TestCard> = new Map<string, TestCard>([
  ['4242424242424242', { method: 'pm_card_visa', what: 'pays' }],
  ['4000000000000002', { method: 'pm_card_chargeDeclined', what: 'is declined' }],
  ['4000000000009995', { method: 'pm_card_chargeDeclinedInsufficientFunds', what: 'is declined: insufficient funds' }],
  ['4000000000000069', { method: 'pm_card_chargeDeclinedExpiredCard', what: 'is declined: expired' }],
  ['4000000000000127', { method: 'pm_card_chargeDeclinedIncorrectCvc', what: 'is declined: wrong security code' }],
  ['4000000000000119', { method: 'pm_card_chargeDeclinedProcessingError', what: 'is declined: processing error' }],
  ['4000002500003155', { method: 'pm_card_authenticationRequired', what: 'asks to authenticate', needsScript: true }],
  ['4000000000003220', { method: 'pm_card_authenticationRequired', what: 'asks to authenticate', needsScript: true }],
  [
    '4000008400001629',
    {
      method: 'pm_card_threeDSecureRequiredChargeDeclined',
      what: 'asks to authenticate, and is declined',
      needsScript: true,
    },
  ],
  ['4000000000007775', { method: 'pm_card_processing', what: 'pays after a second', needsScript: true }],
]);

/** The cards that the hosted page accepts, by number. */
export const HOSTED_PAGE_CARDS: ReadonlyMap<string, TestCard> = new Map(
  [...CARDS].filter(([, { needsScript }]) => needsScript === undefined),
);

export interface TypedCard {
  readonly number: string;
  /** Month and year, `12 / 34` or `12/2034`. */
  readonly expiry: string;
  readonly cvc: string;
}

/** The payment method of the card that was typed into the hosted page, or a message for the consumer about its fault. */
export function methodOf(
  { number, expiry, cvc }: TypedCard,
  now: number,
): { readonly method: string } | { readonly problem: string } {
  const card = HOSTED_PAGE_CARDS.get(number.replaceAll(/[\s-]/g, ''));
  if (card === undefined) return { problem: 'Your card number is none of the test cards.' };
  const [, month = '', year = ''] = /^\s*(0?[1-9]|1[0-2])\s*\/\s*((?:20)?\d{2})\s*$/.exec(expiry) ?? [];
  if (month === '') return { problem: "Your card's expiration date is incomplete." };
  if (isOver(Number(year), Number(month), now)) return { problem: "Your card's expiration date is in the past." };
  if (!/^\s*\d{3,4}\s*$/.test(cvc)) return { problem: "Your card's security code is incomplete." };
  return { method: card.method };
}

/** The payment method of the card in `payment_method_data`, as a browser sends it. */
export function methodOfCardData(data: Parameters, now: number): string {
  data.only('type', 'card', 'billing_details');
  if (data.requiredText('type') !== 'card')
    throw invalid('payment_method_data[type]', null, 'The sandbox takes the type card only.');
  data.nested('billing_details').only('address').nested('address').only('country', 'postal_code');
  const card = data.nested('card').only('number', 'exp_month', 'exp_year', 'cvc');
  const number = card.requiredText('number');
  if (!/^\d{12,19}$/.test(number) || !passesLuhn(number))
    throw refused('number', 'incorrect_number', 'Your card number is incorrect.');
  const [month, year] = [card.requiredInteger('exp_month'), card.requiredInteger('exp_year')];
  if (month < 1 || month > 12)
    throw refused('exp_month', 'invalid_expiry_month', "Your card's expiration month is invalid.");
  if (isOver(year, month, now))
    throw refused('exp_year', 'invalid_expiry_year', "Your card's expiration year is invalid.");
  if (!/^\d{3,4}$/.test(card.text('cvc') ?? ''))
    throw refused('cvc', 'invalid_cvc', "Your card's security code is invalid.");
  const { method } = CARDS.get(number) ?? {};
  if (method !== undefined) return method;
  throw new ProcessorError(402, {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'test_mode_live_card',
    message: 'Your card was declined. The sandbox takes its test cards only.',
  });
}

/** Removes the card's identity from the call. The last four digits stay, because they distinguish the test cards. */
export function withoutCard(entries: FormEntries): FormEntries {
  return entries.flatMap(([name, value]) => {
    if (!name.startsWith('payment_method_data')) return [[name, value] as const];
    return name === 'payment_method_data[card][number]' ? [[name, value.slice(-4)] as const] : [];
  });
}

/** The number in groups of four digits, as on the card. */
export function grouped(number: string): string {
  return number.replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** A card is valid to the end of its month. */
function isOver(year: number, month: number, now: number): boolean {
  return now >= Date.UTC(2_000 + (year % 100), month);
}

function passesLuhn(number: string): boolean {
  const sum = Array.from(number)
    .reverse()
    .reduce((total, digit, place) => {
      const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function refused(param: string, code: string, message: string): ProcessorError {
  return new ProcessorError(402, { type: 'card_error', code, message, param });
}
