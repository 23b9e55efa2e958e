// Which of the languages of the frame a reader gets.
import type { Language } from './journey.js';

const SPOKEN: readonly string[] = ['en', 'es'] satisfies Language[];

/** `wanted`: BCP 47 tags, the most wanted first. English where none of them is spoken. */
export function languageOf(wanted: readonly (string | null)[]): Language {
  const found = wanted
    .map((tag) => tag?.toLowerCase().split('-')[0] ?? '')
    .find((language) => SPOKEN.includes(language));
  return (found as Language | undefined) ?? 'en';
}
