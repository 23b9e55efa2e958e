// Counts amounts like the processor's documentation, independently of the adapter, and formats them for people.

const UNITS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ');
const THOUSANDTHS = 'bhd jod kwd omr tnd'.split(' ');
/** Counted in hundredths, but amounts must be whole units. */
const WHOLE = 'isk ugx'.split(' ');

/** Whether the processor accepts the amount. Some currencies allow only whole units, or require that the last digit is 0. */
export function isChargeable(amount: number, currency: string): boolean {
  return amount % (WHOLE.includes(currency) ? 100 : THOUSANDTHS.includes(currency) ? 10 : 1) === 0;
}

export function amountText(amount: number, currency: string): string {
  const digits = UNITS.includes(currency) ? 0 : THOUSANDTHS.includes(currency) ? 3 : 2;
  const unit = 10 ** digits;
  // Browsers and the processor use different numbers of digits for some currencies, so fractions of a unit are always shown.
  const shown = amount % unit === 0 ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, ...shown }).format(amount / unit);
}
