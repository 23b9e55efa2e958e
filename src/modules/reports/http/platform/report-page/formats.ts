// Days, times and amounts in the reader's language.
import type { PageLanguage } from './wording.js';

const FORMATS = { en: formatsOf('en-US'), es: formatsOf('es-US') } satisfies Record<PageLanguage, unknown>;

/** Formats a day in YYYY-MM-DD. A text that is not a calendar day stays unchanged. */
export function dayOf(date: string, language: PageLanguage): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(date) : null;
  if (time === null || Number.isNaN(time.getTime()) || !time.toISOString().startsWith(date)) return date;
  return FORMATS[language].day.format(time);
}

/** Formats the UTC day of an ISO 8601 time, with the month in full. */
export function longDayOf(time: string, language: PageLanguage): string {
  return FORMATS[language].longDay.format(new Date(time));
}

/** Formats a month in YYYY-MM. */
export function monthOf(month: string, language: PageLanguage): string {
  return FORMATS[language].month.format(new Date(`${month}-01`));
}

/** Formats an ISO 8601 time in UTC, because a page that is kept or passed on may be read in any time zone. */
export function momentOf(time: string, language: PageLanguage): string {
  return `${FORMATS[language].moment.format(new Date(time))} UTC`;
}

/** US dollars; an empty text for null. */
export function moneyOf(cents: number | null, language: PageLanguage): string {
  return cents === null ? '' : FORMATS[language].money.format(cents / 100);
}

/** Formats a whole percentage. */
export function percentOf(percent: number, language: PageLanguage): string {
  return FORMATS[language].percent.format(percent / 100);
}

function formatsOf(locale: string) {
  return {
    longDay: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
    month: new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
    percent: new Intl.NumberFormat(locale, { style: 'percent' }),
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    moment: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
    money: new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }),
  };
}
