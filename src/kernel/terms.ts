/** What a person agrees to before a screening, in the words of the account. */
export interface Terms {
  /** A plain token: who looks into a screening later finds the text by it. */
  readonly version: string;
  /** Paragraphs of plain text. English is always there, and stands in for what is not. */
  readonly text: { readonly en: readonly string[]; readonly es?: readonly string[] };
}

/** Of a version. */
export const TERMS_VERSION = /^[A-Za-z0-9._-]{1,40}$/;

/** Begins every version of the installation's own text, and none of an account's. */
export const INSTALLATION_VERSIONS = 'standard-';
