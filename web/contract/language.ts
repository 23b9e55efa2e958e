// Chooses the reader's language, for the frame and for its title in the page.

export type Language = 'en' | 'es';

const SPOKEN: readonly string[] = ['en', 'es'] satisfies Language[];

/** `wanted`: BCP 47 tags in the order of preference. English when no wanted language is supported. */
export function languageOf(wanted: readonly (string | null)[]): Language {
  const found = wanted
    .map((tag) => tag?.toLowerCase().split('-')[0] ?? '')
    .find((language) => SPOKEN.includes(language));
  return (found as Language | undefined) ?? 'en';
}
