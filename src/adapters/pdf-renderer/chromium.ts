// Prints pages in the Chromium of this machine. chromium-browser.ts runs the browser, and chromium-executable.ts finds it.
import type { Browser, BrowserContext, Route } from 'playwright-core';
import type { Environment } from '../../kernel/environment.js';
import { MOST_PDF_BYTES, PdfRenderer, type PageSource, type RenderedPdf } from '../../ports/pdf-renderer.js';
import { within, withTimeout } from '../../kernel/with-timeout.js';
import { ChromiumBrowser } from './chromium-browser.js';
import { findChromium } from './chromium-executable.js';
import { knownCharacters, withNoteOfMissing } from './drawn-characters.js';
import { quickToPrint } from './quick-to-print.js';
import { PageTurns } from './page-turns.js';

export interface ChromiumPdfRendererOptions {
  /** With null, the first of the usual names in `searchPath` is used. */
  readonly executablePath: string | null;
  /** Folders of programs, as in PATH. The browser receives this variable and no other variable of the environment. */
  readonly searchPath: string;
  /** The limit in milliseconds for one page after its wait, with a running browser. */
  readonly limitMs?: number;
  /** The limits for each environment and source of pages. */
  readonly pagesAtOnce?: number;
  readonly waitingAtMost?: number;
  /** The largest PDF. */
  readonly mostBytes?: number;
  /** Receives the reason why the browser does not start, without any part of a page. */
  readonly notStarted?: (error: unknown) => void;
}

/** Enough bytes for hundreds of sheets. */
const LIMIT_MS = 10_000;
const PAGES_AT_ONCE = 2;
const WAITING_AT_MOST = 16;
/** When a page has not ended by then, its browser is ended too. */
const GONE_WITHIN_MS = 2_000;
/** The service may stop while a page uses its whole time limit. */
const CLOSED_WITHIN_MS = 15_000;
/** When a browser dies while it prints a page, perhaps because of another page, the page is tried once more. */
const TRIES = 2;

/** This address is never requested over a network: the renderer itself answers the request with the page. */
const ADDRESS = 'http://page.invalid/';
/** The first title in a page is the title of its PDF. */
const FOREIGN_TITLE = '<title>Not a report: this page was given to be printed</title>';
/** The document may show only its own content. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src data:; style-src data: 'unsafe-inline'; script-src 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
};

/**
 * A page cannot make requests: its content security policy, the interception of every request and an offline context prevent this. Names that never
 * resolve and a proxy that does not exist also prevent connections that precede requests. Scripts are off in the context. A page with an http address
 * cannot read files.
 */
export class ChromiumPdfRenderer extends PdfRenderer {
  private readonly browser: ChromiumBrowser;
  private readonly searchPath: string;
  /** The turns are separate for each environment and source. Test pages never delay live pages, and foreign pages never delay served pages. */
  private readonly turns: Readonly<Record<`${Environment}-${PageSource}`, PageTurns>>;
  private readonly limitMs: number;
  private readonly mostBytes: number;
  private readonly notStarted: (error: unknown) => void;
  private known: ReturnType<typeof knownCharacters> | null = null;
  private readonly running = new Set<Promise<unknown>>();
  private closing = false;

  /** Makes the renderer without starting a browser. */
  constructor({
    executablePath,
    searchPath,
    limitMs = LIMIT_MS,
    pagesAtOnce = PAGES_AT_ONCE,
    waitingAtMost = WAITING_AT_MOST,
    mostBytes = MOST_PDF_BYTES,
    notStarted = () => undefined,
  }: ChromiumPdfRendererOptions) {
    super();
    this.browser = new ChromiumBrowser(() => findChromium(executablePath, searchPath), searchPath);
    this.searchPath = searchPath;
    const turns = (): PageTurns => new PageTurns(pagesAtOnce, waitingAtMost);
    this.turns = { 'live-served': turns(), 'live-foreign': turns(), 'test-served': turns(), 'test-foreign': turns() };
    this.limitMs = limitMs;
    this.mostBytes = mostBytes;
    this.notStarted = notStarted;
  }

  override async render(html: string, environment: Environment, source: PageSource = 'foreign'): Promise<RenderedPdf> {
    const rendering = this.turns[`${environment}-${source}`].take(async () => {
      const isKnown = await (this.known ??= knownCharacters(this.searchPath));
      const whole = isKnown === null ? html : withNoteOfMissing(html, isKnown);
      return this.print(quickToPrint(whole, source === 'foreign' ? FOREIGN_TITLE : ''));
    });
    this.running.add(rendering);
    try {
      return (await rendering) ?? { kind: 'unavailable' };
    } finally {
      this.running.delete(rendering);
    }
  }

  /** Starts a browser once, so that an operator learns at the start whether pages can be printed. */
  async check(): Promise<void> {
    const browser = await this.started();
    if (browser === null) return;
    this.browser.begin(browser);
    await this.browser.spend(browser);
    this.browser.end(browser);
  }

  /** Lets running pages end if they end soon, then ends the browser. Waiting and new pages are answered `unavailable`. */
  async close(): Promise<void> {
    for (const turns of Object.values(this.turns)) turns.end();
    await withTimeout(CLOSED_WITHIN_MS, Promise.allSettled(this.running));
    this.closing = true;
    await this.browser.close();
  }

  private async print(html: string): Promise<RenderedPdf> {
    let leftMs = this.limitMs;
    for (let attempt = 1; attempt <= TRIES && !this.closing; attempt++) {
      const browser = await this.started();
      if (browser === null) return { kind: this.closing ? 'unavailable' : 'no-browser' };
      const began = performance.now();
      const content = await this.printIn(browser, html, leftMs);
      if (content === 'timed-out') return { kind: 'timed-out' };
      if (content === 'gave-up' && attempt === TRIES) return { kind: 'too-large' };
      if (content !== 'failed' && content !== 'gave-up')
        return content.byteLength > this.mostBytes ? { kind: 'too-large' } : { kind: 'pdf', content };
      leftMs -= performance.now() - began;
    }
    return { kind: 'unavailable' };
  }

  private async started(): Promise<Browser | null> {
    try {
      return await this.browser.get();
    } catch (error) {
      if (!this.closing) this.notStarted(error);
      return null;
    }
  }

  private async printIn(
    browser: Browser,
    html: string,
    limitMs: number,
  ): Promise<Uint8Array | 'failed' | 'gave-up' | 'timed-out'> {
    let context: BrowserContext | null = null;
    const work = async (): Promise<Uint8Array | 'gave-up'> => {
      context = await browser.newContext({
        javaScriptEnabled: false,
        offline: true,
        serviceWorkers: 'block',
        acceptDownloads: false,
      });
      return printedPage(context, html);
    };
    // The library waits for ever for a page that was being opened when the browser died.
    let died: () => void = () => undefined;
    const death = new Promise<'failed'>((resolve) => (died = () => resolve('failed')));
    browser.once('disconnected', died);
    this.browser.begin(browser);
    try {
      // The library's messages may quote the page.
      const printed = Promise.race([work().catch(() => 'failed' as const), death]);
      const outcome = await within(limitMs, printed, () => 'timed-out' as const);
      if (outcome === 'gave-up' && !browser.isConnected()) return 'failed';
      // The process that writes a PDF continues when the page has ended, and only the browser can end the process.
      if (outcome === 'timed-out') await this.browser.spend(browser);
      return outcome;
    } finally {
      browser.off('disconnected', died);
      if (!(await closed(context)) || !browser.isConnected()) await this.browser.retire(browser);
      this.browser.end(browser);
    }
  }
}

/** Gives up when the process of the page or of the PDF ends. Usually the process needed more memory than allowed. */
async function printedPage(context: BrowserContext, html: string): Promise<Uint8Array | 'gave-up'> {
  context.setDefaultTimeout(0);
  let given = false;
  const answer = (route: Route): Promise<void> => {
    const url = route.request().url();
    if (url.startsWith('data:')) return route.continue();
    // The request is answered only once, because a page that refreshes itself would never end. After 'aborted', a page that wants to navigate stays
    // open.
    if (given || url !== ADDRESS) return route.abort('aborted');
    given = true;
    return route.fulfill({ status: 200, headers: HEADERS, body: html });
  };
  // The page may have ended by this time.
  await context.route('**/*', (route) => answer(route).catch(() => undefined));
  const page = await context.newPage();
  const crashed = new Promise<'gave-up'>((resolve) => void page.once('crash', () => resolve('gave-up')));
  const printed = async (): Promise<Uint8Array | 'gave-up'> => {
    await page.goto(ADDRESS, { waitUntil: 'load' });
    const content = await page
      .pdf({ format: 'Letter', printBackground: true, tagged: true, outline: true })
      .catch((error: unknown) => {
        if (error instanceof Error && error.message.includes('Printing failed')) return Buffer.alloc(0);
        throw error;
      });
    return content.subarray(0, 5).toString('latin1') === '%PDF-' ? content : 'gave-up';
  };
  // The library waits for ever for a page whose process has died.
  return Promise.race([printed(), crashed]);
}

/**
 * Closing the context ends the processes of its pages, even one that computes without end. False if no context exists, or if the context does not
 * close.
 */
async function closed(context: BrowserContext | null): Promise<boolean> {
  if (context === null) return false;
  return (
    (await withTimeout(
      GONE_WITHIN_MS,
      context.close().then(() => true),
    )) === true
  );
}
