// Calculates and formats the time when a person may start again. Pure.
import type { Language } from '../../../contract/language.js';
import type { Session } from '../../api/wire.js';

const TAG = /^([a-z]{2})(-[a-z0-9]{2,8})*$/i;

/** `over`: a new submission is allowed. */
export function endOf({ status, blockedUntil, reasonCode }: Session, now: number): Date | 'never' | 'over' {
  // When the details match no person, the person may have mistyped them.
  if (status !== 'BLOCKED' || reasonCode === 'IDENTITY_NOT_FOUND') return 'over';
  if (!blockedUntil) return 'never';
  const until = new Date(blockedUntil);
  return until.getTime() > now ? until : 'over';
}

/**
 * In the reader's named time zone and regional format. `locales` are BCP 47 tags, the preferred one first. The first tag of the language is used.
 * Without a region it is that of the country where people are screened.
 */
export function dayAndTime(
  language: Language,
  locales: readonly (string | null)[],
  time: Date,
  timeZone?: string,
): string {
  const tag = locales.find((tag) => tag && TAG.exec(tag)?.[1]?.toLowerCase() === language);
  const locale = tag?.includes('-') ? tag : `${language}-US`;
  return new Intl.DateTimeFormat(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(time);
}
