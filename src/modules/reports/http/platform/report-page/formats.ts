// Days, times and amounts in a reader's form.
import type { PageLanguage } from './wording.js';

const FORMATS = { en: formatsOf('en-US'), es: formatsOf('es-US') } satisfies Record<PageLanguage, unknown>;

/** For YYYY-MM-DD. A text that is not a calendar day stays unchanged. */
export function dayOf(date: string, language: PageLanguage): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(date) : null;
  if (time === null || Number.isNaN(time.getTime()) || !time.toISOString().startsWith(date)) return date;
  return FORMATS[language].day.format(time);
}

/** For ISO 8601. In UTC, because a page that is kept or passed on is read in any zone. */
export function momentOf(time: string, language: PageLanguage): string {
  return `${FORMATS[language].moment.format(new Date(time))} UTC`;
}

/** US dollars; empty for null. */
export function moneyOf(cents: number | null, language: PageLanguage): string {
  return cents === null ? '' : FORMATS[language].money.format(cents / 100);
}

function formatsOf(locale: string) {
  return {
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    moment: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
    money: new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }),
  };
}
