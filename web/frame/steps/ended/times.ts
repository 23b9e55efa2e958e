// When a person may start again, and how that is written. Pure.
import type { Language } from '../../../contract/language.js';
import type { Session } from '../../api/wire.js';

const TAG = /^([a-z]{2})(-[a-z0-9]{2,8})*$/i;

/** `over`: a new submission is allowed. */
export function endOf({ status, blockedUntil, reasonCode }: Session, now: number): Date | 'never' | 'over' {
  // Details that match nobody may have been typed wrong.
  if (status !== 'BLOCKED' || reasonCode === 'IDENTITY_NOT_FOUND') return 'over';
  if (!blockedUntil) return 'never';
  const until = new Date(blockedUntil);
  return until.getTime() > now ? until : 'over';
}

/**
 * In the reader's time zone, which is named, and as people write it where the reader is from: `locales` are BCP 47 tags, the dearest
 * first; the first one of the language counts.
 */
export function dayAndTime(
  language: Language,
  locales: readonly (string | null)[],
  time: Date,
  timeZone?: string,
): string {
  const locale = locales.find((tag) => tag && TAG.exec(tag)?.[1]?.toLowerCase() === language) ?? language;
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
