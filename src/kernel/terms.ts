import { createHash } from 'node:crypto';

/** The terms that a person accepts before a screening, in the account's words. */
export interface Terms {
  /** A plain token that identifies the text for readers of a screening. */
  readonly version: string;
  /** Paragraphs of plain text. The English text always exists, and replaces a missing language. */
  readonly text: { readonly en: readonly string[]; readonly es?: readonly string[] };
}

/** The form of a version. */
export const TERMS_VERSION = /^[A-Za-z0-9._-]{1,40}$/;

/** The prefix of every version of the installation's own text. Versions of an account never have this prefix. */
export const INSTALLATION_VERSIONS = 'standard-';

export type Language = keyof Terms['text'];

/** The text that a page in this language shows. */
export function shownIn(
  { version, text }: Terms,
  language: Language,
): { readonly version: string; readonly language: Language; readonly paragraphs: readonly string[] } {
  const paragraphs = text[language];
  return paragraphs === undefined
    ? { version, language: 'en', paragraphs: text.en }
    : { version, language, paragraphs };
}

/** SHA-256, in lowercase hex, of the JSON text of version, language and paragraphs. The text contains no personal data, so the digest has no key. */
export function shownDigestOf({ version, language, paragraphs }: ReturnType<typeof shownIn>): string {
  return createHash('sha256')
    .update(JSON.stringify([version, language, paragraphs]))
    .digest('hex');
}
