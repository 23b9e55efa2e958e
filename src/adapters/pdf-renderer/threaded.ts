// Prints in a thread of its own. The library that drives the browser keeps account of every asynchronous step of the thread that it is in
// (AsyncLocalStorage), and on Node 20 each promise there is dearer for it, whoever made it.
import type { Worker } from 'node:worker_threads';
import type { Environment } from '../../kernel/environment.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { PdfRenderer, type RenderedPdf } from '../../ports/pdf-renderer.js';

export interface RendererThreadData {
  /** See ChromiumPdfRendererOptions. */
  readonly executablePath: string | null;
  readonly searchPath: string;
}

export type ToRenderer =
  | { readonly kind: 'render'; readonly id: number; readonly html: string; readonly environment: Environment }
  | { readonly kind: 'check' | 'close' };

/** `error`: as it comes out of a structured clone, with its message and stack and without its class. */
export type FromRenderer =
  | { readonly kind: 'rendered'; readonly id: number; readonly rendered: RenderedPdf }
  | { readonly kind: 'not-started'; readonly error: unknown };

/** Longer than the renderer in the thread takes for it. */
const CLOSED_WITHIN_MS = 20_000;

/** The thread is started by the first page or check, and again by the next one when it has died. */
export class ThreadedPdfRenderer extends PdfRenderer {
  private thread: Worker | null = null;
  private readonly waiting = new Map<number, (rendered: RenderedPdf) => void>();
  private lastId = 0;
  private closing = false;

  constructor(
    /** Makes a thread that runs `renderer-thread.ts`. */
    private readonly begin: () => Worker,
    /** Hears why no browser or no thread starts, without anything of a page. */
    private readonly notStarted: (error: unknown) => void,
  ) {
    super();
  }

  override async render(html: string, environment: Environment): Promise<RenderedPdf> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      if (!this.tell({ kind: 'render', id, html, environment })) this.answer(id, { kind: 'unavailable' });
    });
  }

  /** Tries a browser once, so that an operator hears at the start that nothing can be printed. */
  check(): void {
    this.tell({ kind: 'check' });
  }

  /** Lets the pages under way end if they do so soon, then ends the browser. What waits or comes is answered `unavailable`. */
  async close(): Promise<void> {
    this.closing = true;
    const { thread } = this;
    if (thread === null) return;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.postMessage({ kind: 'close' } satisfies ToRenderer);
    await withTimeout(CLOSED_WITHIN_MS, ended);
    await thread.terminate();
  }

  /** False when there is no thread to tell. */
  private tell(message: ToRenderer): boolean {
    if (this.closing) return false;
    try {
      this.thread ??= this.start();
    } catch (error) {
      this.notStarted(error);
      return false;
    }
    this.thread.postMessage(message);
    return true;
  }

  private start(): Worker {
    const thread = this.begin();
    thread.on('message', (message: FromRenderer) => {
      if (message.kind === 'rendered') this.answer(message.id, message.rendered);
      else this.notStarted(message.error);
    });
    thread.once('error', this.notStarted);
    thread.once('exit', () => {
      this.thread = null;
      for (const id of this.waiting.keys()) this.answer(id, { kind: 'unavailable' });
    });
    return thread;
  }

  private answer(id: number, rendered: RenderedPdf): void {
    this.waiting.get(id)?.(rendered);
    this.waiting.delete(id);
  }
}
