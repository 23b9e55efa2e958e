// Formats amounts. Pure.
import type { Language } from '../../contract/language.js';

/** `currency`: an ISO 4217 code. `10 ** exponent` is one unit, because the processor and the browser count some currencies differently. */
export function money(language: Language, amount: number, currency: string, exponent?: number): string {
  // The number format of the country where people pay. Spanish of other countries differs.
  const written = (digits?: number): Intl.NumberFormat =>
    new Intl.NumberFormat(`${language}-US`, {
      style: 'currency',
      currency,
      ...(digits !== undefined && { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    });
  const counted = exponent ?? written().resolvedOptions().maximumFractionDigits ?? 2;
  const unit = 10 ** counted;
  // A fraction of a unit is never rounded away.
  return written(amount % unit === 0 ? undefined : counted).format(amount / unit);
}
