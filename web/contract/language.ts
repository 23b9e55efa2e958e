// Which of the languages of the component a reader gets: in the frame, and in the title that the page gives it.

export type Language = 'en' | 'es';

const SPOKEN: readonly string[] = ['en', 'es'] satisfies Language[];

/** `wanted`: BCP 47 tags in the order of preference. English where none of them is spoken. */
export function languageOf(wanted: readonly (string | null)[]): Language {
  const found = wanted
    .map((tag) => tag?.toLowerCase().split('-')[0] ?? '')
    .find((language) => SPOKEN.includes(language));
  return (found as Language | undefined) ?? 'en';
}
