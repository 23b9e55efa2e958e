// Languages and themes that page and frames must have in common.
import { type Appearance, isRecord } from './messages.js';

export type Language = 'en' | 'es';

export function languageOf(locale: string): Language {
  const wanted = locale === 'auto' ? navigator.language : locale;
  return /^es\b/i.test(wanted) ? 'es' : 'en';
}

/** For the CSS property `color-scheme`. Without a theme, the reader's preference is used. */
export function colorSchemeOf(theme: string | undefined): string {
  if (theme === undefined) return 'light dark';
  return theme === 'night' ? 'dark' : 'light';
}

/** The known parts of an appearance. */
export function appearanceOf(value: unknown): Appearance {
  if (!isRecord(value)) return {};
  const { theme, variables } = value;
  const texts = Object.entries(isRecord(variables) ? variables : {}).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  );
  return { ...(typeof theme === 'string' ? { theme } : {}), variables: Object.fromEntries(texts) };
}
