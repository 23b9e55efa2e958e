import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PdfRenderer } from '../../../ports/pdf-renderer.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { TemporaryFiles } from '../../../ports/temporary-files.js';
import { SubjectErased } from '../../../ports/vault.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { isExpired, report } from '../domain/report.js';
import { packed, plainFilename } from './pdf-file.js';
import { PdfLinks } from './pdf-links.js';
import { ReportAccess } from './report-access.js';
import { ReportBodyStore } from './report-body-store.js';
import { ReportPolicy } from './report-policy.js';

export interface RenderedReport {
  readonly url: string;
  readonly expiresAt: string;
}

/** Prints a page that the caller has already, for a report that it may see. Hands out no report data, pulls and bills nothing. */
@UseCase()
export class RenderPdf extends Command<RenderedReport> {
  constructor(
    readonly sessionId: string,
    /** Names the file; a request made again names it again. */
    readonly fileId: string,
    readonly page: { readonly html: string; readonly filename: string | null },
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** Longer than any page takes: after it, the turn of a process that died ends by itself. */
const TURN_SECONDS = 60;

@Handles(RenderPdf)
export class RenderPdfHandler implements ICommandHandler<RenderPdf> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly access: ReportAccess,
    private readonly bodies: ReportBodyStore,
    private readonly renderer: PdfRenderer,
    private readonly limiter: RateLimiter,
    private readonly files: TemporaryFiles,
    private readonly links: PdfLinks,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, fileId, page, context }: RenderPdf): Promise<RenderedReport> {
    const { subjectId } = await this.admit(sessionId, context);
    const rendered = await this.inTurn(context.accountId, () => this.renderer.render(page.html, subjectId));
    if (rendered.kind === 'unavailable') throw new DomainError('service.unavailable');
    if (rendered.kind === 'no-browser') throw new DomainError('report.printer_missing');
    if (rendered.kind === 'timed-out') throw new DomainError('service.upstream_timeout');
    if (rendered.kind === 'too-large') throw fieldError('request.too_large', 'pdf.page', 'becomes too large a PDF');
    const ttlMs = this.policy.limits.pdfLinkSeconds * 1_000;
    const expiresAt = new Date(this.clock.now().getTime() + ttlMs);
    await this.keep(
      fileId,
      subjectId,
      packed({ filename: plainFilename(page.filename), content: rendered.content }),
      ttlMs,
    );
    return { url: await this.links.make(fileId, expiresAt), expiresAt: expiresAt.toISOString() };
  }

  /** One page of an account at a time, so that nobody's pages keep the others' waiting. */
  private async inTurn<Result>(accountId: string, print: () => Promise<Result>): Promise<Result> {
    const turn = { key: `pdf-turn:${accountId}`, limit: 1, windowSeconds: TURN_SECONDS };
    const refusal = await this.limiter.take([
      turn,
      { key: `pdfs:${accountId}`, limit: this.policy.limits.pdfsPerMinute, windowSeconds: 60 },
    ]);
    if (refusal)
      throw new DomainError('request.rate_limited', {
        retryAfterSeconds: refusal.key === turn.key ? 1 : refusal.retryAfterSeconds,
      });
    try {
      return await print();
    } finally {
      await this.limiter.giveBack([turn]);
    }
  }

  private async keep(fileId: string, subjectId: string, file: Uint8Array, ttlMs: number): Promise<void> {
    try {
      await this.files.put(nameOf(fileId), subjectId, file, ttlMs);
    } catch (error) {
      if (error instanceof SubjectErased) throw new DomainError('report.expired', { cause: error });
      throw error;
    }
  }

  private async admit(sessionId: string, context: CallerContext): Promise<ScreeningFacts> {
    const session = await this.access.session(sessionId, context);
    if (session.accountId !== context.accountId) {
      await this.access.shareWith(session, context.accountId);
      return session;
    }
    await this.access.admitOwner(session);
    const { state } = await this.aggregates.load(report, sessionId);
    if (state.status !== 'RELEASED') return session;
    if (isExpired(state, this.clock.now()) && !(await this.access.ownShare(session)))
      throw new DomainError('report.expired');
    if ((await this.bodies.of(state)) === null) throw new DomainError('report.expired');
    return session;
  }
}

/** Where the temporary store has it. */
export function nameOf(fileId: string): string {
  return `report-pdf:${fileId}`;
}
