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
