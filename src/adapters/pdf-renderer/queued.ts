// The PDF renderer as the application calls it: through a queue, by a worker that has a browser.
import { randomUUID } from 'node:crypto';
import { PdfRenderer, type RenderedPdf } from '../../ports/pdf-renderer.js';
import type { NoVerdict, VendorCall } from '../../ports/vendor-call.js';
import type { QueuedCalls } from '../queued-calls/caller.js';
import { asJson, fromJson, type Packing } from '../queued-calls/packing.js';
import type { CallQueue, Calls } from '../queued-calls/queue.js';

/** The port's operation as the queue carries it. */
export interface Rendering {
  render(call: VendorCall, html: string): Promise<RenderedPdf | NoVerdict>;
}

/** Before the bytes of a PDF, which are sealed as they are. No JSON begins with it. */
const CONTENT_FOLLOWS = 0;

const RENDERED: Packing<RenderedPdf | NoVerdict> = {
  pack: (rendered) =>
    rendered.kind === 'pdf' ? Buffer.concat([Buffer.of(CONTENT_FOLLOWS), rendered.content]) : asJson(rendered),
  unpack: (bytes) =>
    bytes[0] === CONTENT_FOLLOWS
      ? { kind: 'pdf', content: bytes.subarray(1) }
      : (fromJson(bytes) as Exclude<RenderedPdf, { readonly kind: 'pdf' }>),
};

/** Rendering leaves nothing behind, so that it may be asked for any number of times. */
export const PDF_RENDERER_QUEUE: CallQueue<Rendering> = {
  name: 'pdf-renderer',
  operations: { render: { repetition: 'question', packing: RENDERED } },
};

/** What a worker calls. */
export function renderingBy(renderer: PdfRenderer): Calls<Rendering> {
  return { render: ({ subject }, html) => renderer.render(html, subject) };
}

export class QueuedPdfRenderer extends PdfRenderer {
  constructor(private readonly calls: Pick<QueuedCalls<Rendering>, 'make'>) {
    super();
  }

  /** No vendor hears of a page, so that its ids are of the job only, and its environment says nothing. */
  override async render(html: string, subject: string | null): Promise<RenderedPdf> {
    const id = randomUUID();
    const rendered = await this.calls.make(
      'render',
      { attemptId: id, correlationId: id, environment: 'test', subject },
      html,
    );
    // What a worker could not make or hand back intact was not rendered.
    return rendered.kind === 'unintelligible' ? { kind: 'unavailable' } : rendered;
  }
}
