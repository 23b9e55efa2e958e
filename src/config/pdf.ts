import { existsSync } from 'node:fs';
import type { Variables } from './variables.js';

/** The browser that prints PDFs, and the pages that it may print. This class is also the injection token. */
export abstract class PdfSettings {
  /** With null, the first of the usual names in `searchPath` is used. */
  abstract readonly chromiumPath: string | null;
  /** Folders in which the service looks for programs, in the form of PATH. */
  abstract readonly searchPath: string;
  /** Whether the browser prints only pages that the service has served. */
  abstract readonly servedPagesOnly: boolean;
}

export function readPdf(env: Variables): PdfSettings {
  const chromiumPath = env.text('CHROMIUM_PATH');
  if (chromiumPath !== null && !existsSync(chromiumPath)) env.fault('CHROMIUM_PATH', 'must name a file that exists');
  const servedPagesOnly = env.flag('PDF_SERVED_PAGES_ONLY', false);
  return { chromiumPath, searchPath: env.text('PATH') ?? '', servedPagesOnly };
}
