// Formats a day. Pure.
import type { Language } from '../../contract/language.js';

/** In the reader's time zone. `time` is ISO 8601. */
export function day(language: Language, time: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(new Date(time));
}
