import type { Environment } from '../kernel/environment.js';

/** Whether the service has served the page as a report (`served`), or the origin of the page is unknown (`foreign`). */
export type PageSource = 'served' | 'foreign';

/** A page of one megabyte may become a PDF of a hundred. */
export const MOST_PDF_BYTES = 20_000_000;

export type RenderedPdf =
  | { readonly kind: 'pdf'; readonly content: Uint8Array }
  /** The machine has no browser, or no browser that starts in its sandbox. */
  | { readonly kind: 'no-browser' }
  /** The browser died while it printed, or too many pages are waiting. */
  | { readonly kind: 'unavailable' }
  /** The page needs more memory than allowed, or its PDF is larger than `MOST_PDF_BYTES`. */
  | { readonly kind: 'too-large' }
  /** The page was not printed in time. */
  | { readonly kind: 'timed-out' };

/**
 * Prints HTML of unknown origin in a real browser, as a Letter page with its backgrounds. Scripts and network are off, even for images, styles,
 * frames and redirects; `data:` is allowed. The page has no access to files, and has a context of its own that is removed afterwards. The number of
 * simultaneous and waiting pages is limited for each environment and source. The time, the memory and the size of the PDF are limited for each page.
 * No part of the page is stored or logged. The PDF of a served page has its title. The PDF of a foreign page has a title that says that it is not a
 * report.
 */
export abstract class PdfRenderer {
  abstract render(html: string, environment: Environment, source?: PageSource): Promise<RenderedPdf>;
}
