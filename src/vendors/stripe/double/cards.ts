// The cards that exist here, as they are typed into the checkout page. What is typed is looked at and forgotten.

/** By number: the payment method that stands for the card. */
export const CARDS: ReadonlyMap<string, { readonly method: string; readonly what: string }> = new Map([
  ['4242424242424242', { method: 'pm_card_visa', what: 'pays' }],
  ['4000000000000002', { method: 'pm_card_chargeDeclined', what: 'is declined' }],
  ['4000000000009995', { method: 'pm_card_chargeDeclinedInsufficientFunds', what: 'is declined: insufficient funds' }],
  ['4000000000000069', { method: 'pm_card_chargeDeclinedExpiredCard', what: 'is declined: expired' }],
]);

export interface TypedCard {
  readonly number: string;
  /** Month and year, `12 / 34` or `12/2034`. */
  readonly expiry: string;
  readonly cvc: string;
}

/** The payment method of what was typed, or what is wrong with it, as the consumer is told. */
export function methodOf(
  { number, expiry, cvc }: TypedCard,
  now: number,
): { readonly method: string } | { readonly problem: string } {
  const card = CARDS.get(number.replaceAll(/[\s-]/g, ''));
  if (card === undefined) return { problem: 'Your card number is none of the test cards.' };
  const [, month = '', year = ''] = /^\s*(0?[1-9]|1[0-2])\s*\/\s*((?:20)?\d{2})\s*$/.exec(expiry) ?? [];
  if (month === '') return { problem: "Your card's expiration date is incomplete." };
  // A card is good to the end of its month.
  const end = Date.UTC(2_000 + (Number(year) % 100), Number(month));
  if (now >= end) return { problem: "Your card's expiration date is in the past." };
  if (!/^\s*\d{3,4}\s*$/.test(cvc)) return { problem: "Your card's security code is incomplete." };
  return { method: card.method };
}

/** In groups of four, as on the card. */
export function grouped(number: string): string {
  return number.replaceAll(/(.{4})(?=.)/g, '$1 ');
}
