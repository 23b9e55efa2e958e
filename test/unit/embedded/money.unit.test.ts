// A person sees the amount that the processor charges.
import { expect, it } from '@jest/globals';
import { money } from '../../../web/frame/parts/money.js';
import { CURRENCIES } from '../../../src/vendors/stripe/currencies.js';

it.each([
  ['usd', 3_500, '$35.00'],
  ['usd', 5, '$0.05'],
  ['eur', 3_599, '\u20ac35.99'],
  ['jpy', 3_500, '\u00a53,500'],
  ['krw', 50_000, '\u20a950,000'],
  ['xof', 3_500, 'F\u202fCFA\u00a03,500'],
  ['kwd', 35_000, 'KWD\u00a035.000'],
  ['kwd', 3_510, 'KWD\u00a03.510'],
  // The processor counts amounts in these currencies in hundredths. Other systems count amounts in whole units.
  ['isk', 350_000, 'ISK\u00a03,500'],
  ['ugx', 350_000, 'UGX\u00a03,500'],
  ['huf', 350_000, 'HUF\u00a03,500'],
  ['huf', 350_050, 'HUF\u00a03,500.50'],
])('the currency %s with the amount %s is shown as %s', (currency, amount, shown) => {
  expect(money('en', amount, currency, CURRENCIES[currency]?.exponent)).toBe(shown);
});

it('the browser chooses the decimals when the service does not give them', () => {
  expect([money('en', 3_500, 'usd'), money('es', 3_500, 'jpy')]).toEqual(['$35.00', '\u00a53,500']);
});
