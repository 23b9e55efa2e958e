import type { Environment } from '../../kernel/environment.js';
import { PdfRenderer, type RenderedPdf } from '../../ports/pdf-renderer.js';

/** A renderer whose every page is counted: what became of it and how long it took, and nothing else. */
export class MeasuredPdfRenderer extends PdfRenderer {
  constructor(
    private readonly renderer: PdfRenderer,
    private readonly observe: (outcome: RenderedPdf['kind'], seconds: number) => void,
  ) {
    super();
  }

  override async render(html: string, environment: Environment): Promise<RenderedPdf> {
    const startedAt = performance.now();
    const rendered = await this.renderer.render(html, environment);
    this.observe(rendered.kind, (performance.now() - startedAt) / 1_000);
    return rendered;
  }
}
