import type { Environment } from '../../kernel/environment.js';
import { PdfRenderer, type RenderedPdf } from '../../ports/pdf-renderer.js';

/** A renderer whose every page is told: what became of it, how long it took and for which environment, and nothing else. */
export class MeasuredPdfRenderer extends PdfRenderer {
  constructor(
    private readonly renderer: PdfRenderer,
    private readonly observe: (outcome: RenderedPdf['kind'], seconds: number, environment: Environment) => void,
  ) {
    super();
  }

  override async render(...page: Parameters<PdfRenderer['render']>): Promise<RenderedPdf> {
    const startedAt = performance.now();
    const rendered = await this.renderer.render(...page);
    this.observe(rendered.kind, (performance.now() - startedAt) / 1_000, page[1]);
    return rendered;
  }
}
