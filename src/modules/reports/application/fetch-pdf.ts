import { Query, type IQueryHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { TemporaryFiles } from '../../../ports/temporary-files.js';
import { Vault } from '../../../ports/vault.js';
import { unpacked, type PdfFile } from './pdf-file.js';
import { isGood, type PdfLink } from './pdf-links.js';
import { nameOf } from './render-pdf.js';

/** Returns the PDF of a signed link. A forged link, an expired link and a deleted PDF give the same error. */
@UseCase()
export class FetchPdf extends Query<PdfFile> {
  constructor(readonly link: PdfLink) {
    super();
  }
}

@Handles(FetchPdf)
export class FetchPdfHandler implements IQueryHandler<FetchPdf> {
  constructor(
    private readonly files: TemporaryFiles,
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {}

  async execute({ link }: FetchPdf): Promise<PdfFile> {
    const stored = (await isGood(this.vault, link, this.clock.now()))
      ? await this.files.get(nameOf(link.fileId))
      : null;
    if (!stored) throw new DomainError('report.access_denied');
    return unpacked(stored);
  }
}
