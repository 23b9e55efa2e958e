import type { Environment } from '../kernel/environment.js';

/** Whether the service has served the page as a report, or does not know whose it is. */
export type PageSource = 'served' | 'foreign';

export type RenderedPdf =
  | { readonly kind: 'pdf'; readonly content: Uint8Array }
  /** No browser on this machine, or none that starts in its sandbox. */
  | { readonly kind: 'no-browser' }
  /** The browser died under the page, or too many pages are waiting. */
  | { readonly kind: 'unavailable' }
  /** The page needs more memory than it may have, or its PDF is larger than allowed: a megabyte may become a hundred. */
  | { readonly kind: 'too-large' }
  /** The page was not done in time. */
  | { readonly kind: 'timed-out' };

/**
 * Prints HTML of unknown origin in a real browser, as a Letter page with its backgrounds: scripts off, network off (also for
 * images, styles, frames and redirects; `data:` is allowed), no access to files, each page in a context of its own that is gone
 * afterwards. Bounded in pages at once and pages waiting (of each environment and source), time and memory for one and size of what becomes of it. Nothing of the page is stored or logged.
 * The title of a PDF is that of a served page; of a foreign page it says that this is no report.
 */
export abstract class PdfRenderer {
  abstract render(html: string, environment: Environment, source?: PageSource): Promise<RenderedPdf>;
}
