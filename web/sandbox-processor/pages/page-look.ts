// Language and colours of a page.
import { colorSchemeOf, type Language, languageOf } from '../look.js';
import type { ErrorObject, Look } from '../messages.js';
import { MESSAGES } from './texts.js';

/** Keyed by the name of the variable in the processor's library. */
const PROPERTIES: Readonly<Record<string, string>> = {
  colorPrimary: '--accent',
  colorBackground: '--surface',
  colorText: '--text',
  colorTextPlaceholder: '--quiet',
  colorDanger: '--danger',
  borderRadius: '--radius',
  fontFamily: '--font',
};

export function dressPage({ locale, appearance }: Look): Language {
  const language = languageOf(locale);
  const { documentElement: root } = document;
  root.lang = language;
  root.dataset['scheme'] = colorSchemeOf(appearance.theme);
  for (const [name, property] of Object.entries(PROPERTIES))
    root.style.setProperty(property, appearance.variables?.[name] ?? '');
  return language;
}

/** With its message in the reader's language, if the pages contain this message. */
export function translated(error: ErrorObject, language: Language): ErrorObject {
  const messages = MESSAGES[language];
  const message = messages[error.decline_code ?? ''] ?? messages[error.code ?? ''] ?? messages[error.type];
  return message === undefined ? error : { ...error, message };
}
