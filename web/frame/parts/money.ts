// How amounts are written. Pure.
import type { Language } from '../../contract/language.js';

/** `currency` is an ISO 4217 code, of which `10 ** exponent` is one unit: the processor counts some otherwise than the browser. */
export function money(language: Language, amount: number, currency: string, exponent?: number): string {
  // As it is written in the country where people pay: Spanish elsewhere puts it otherwise.
  const written = (digits?: number): Intl.NumberFormat =>
    new Intl.NumberFormat(`${language}-US`, {
      style: 'currency',
      currency,
      ...(digits !== undefined && { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    });
  const counted = exponent ?? written().resolvedOptions().maximumFractionDigits ?? 2;
  const unit = 10 ** counted;
  // Part of a unit is never rounded away.
  return written(amount % unit === 0 ? undefined : counted).format(amount / unit);
}
