// The reader's language, for the parts of a screen. Steps get the language from their journey.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Language } from '../../contract/language.js';
import type { Texts } from '../journey.js';

export const LanguageContext = createContext<Language>('en');

export function useTexts<Keys extends string>(texts: Texts<Keys>): Readonly<Record<Keys, string>> {
  return texts[useContext(LanguageContext)];
}

/** Replaces each `{name}` in a text. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
