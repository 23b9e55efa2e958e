import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { MOST_PDF_BYTES, PdfRenderer, type PageSource, type RenderedPdf } from '../../../ports/pdf-renderer.js';
import { limitRule, RateLimiter } from '../../../ports/rate-limiter.js';
import { TemporaryFiles } from '../../../ports/temporary-files.js';
import { Vault } from '../../../ports/vault.js';
import { unlessErased } from '../../../ports/vault-entry.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { isExpired, report } from '../domain/report.js';
import { packed, plainFilename } from './pdf-file.js';
import { pdfLink } from './pdf-links.js';
import { ReadRefusals } from './read-refusals.js';
import { ReportAccess } from './report-access.js';
import { bodyOf } from './report-bodies.js';
import { ReportPolicy } from './report-policy.js';
import { isServedPage } from './served-pages.js';

export interface RenderedReport {
  readonly url: string;
  readonly expiresAt: string;
}

/**
 * Prints a page that the caller already has, for a report that the caller may see. Printing returns no report data, pulls nothing and bills nothing.
 */
@UseCase()
export class RenderPdf extends Command<RenderedReport> {
  constructor(
    readonly request: {
      readonly sessionId: string;
      /** The name of the file. A repeated request has the same name. */
      readonly fileId: string;
      readonly page: { readonly html: string; readonly filename: string | null };
      readonly clientAddress: string;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

const PRINTABLE = `must need no more memory than printing allows, and become a PDF of at most ${MOST_PDF_BYTES.toLocaleString('en')} bytes`;
/** Longer than any page takes to print. If the process dies, its turn ends after this time. */
const TURN_SECONDS = 60;

interface Page {
  readonly html: string;
  readonly filename: string | null;
  readonly source: PageSource;
  /** The name of the file. */
  readonly fileId: string;
}

type Printed = 'printed' | 'person-erased' | Exclude<RenderedPdf['kind'], 'pdf'>;

/**
 * Printing is queued and awaited like a call to a vendor, because only workers run browsers. No aggregate records the printing. The worker stores the
 * file where the link finds it.
 */
@Injectable()
export class PrintPage extends ExternalCall<Page, Printed> {
  override readonly vendor = 'pdf-renderer';
  override readonly operation = 'print-page';
  override readonly semantics = 'query';

  constructor(
    private readonly renderer: PdfRenderer,
    private readonly files: TemporaryFiles,
    private readonly policy: ReportPolicy,
  ) {
    super();
  }

  override async askAndRecord(
    { environment }: VendorCall,
    { subject }: Attempt,
    { html, filename, source, fileId }: Page,
  ): Promise<Printed> {
    if (subject === null) throw new Error('A report is about a person');
    const rendered = await this.renderer.render(html, environment, source);
    if (rendered.kind !== 'pdf') return rendered.kind;
    const file = packed({ filename: plainFilename(filename), content: rendered.content });
    try {
      const put = this.files.put(nameOf(fileId), subject, file, this.policy.limits.pdfLinkSeconds * 1_000);
      return (await unlessErased(put)) === 'erased' ? 'person-erased' : 'printed';
    } catch (error) {
      if (error instanceof Unavailable) return 'unavailable';
      throw error;
    }
  }

  override async recordNotAsked(): Promise<Printed> {
    return 'unavailable';
  }
}

@Handles(RenderPdf)
export class RenderPdfHandler implements ICommandHandler<RenderPdf> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly access: ReportAccess,
    private readonly refusals: ReadRefusals,
    private readonly vault: Vault,
    private readonly calls: ExternalCalls,
    private readonly printPage: PrintPage,
    private readonly files: TemporaryFiles,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { sessionId, fileId, page, clientAddress }, context }: RenderPdf): Promise<RenderedReport> {
    const read = { sessionId, format: 'pdf', context } as const;
    const { subjectId } = await this.refusals.noting(read, () => this.admit(sessionId, context));
    const source = (await isServedPage(this.vault, sessionId, page.html)) ? 'served' : 'foreign';
    if (source === 'foreign' && this.policy.limits.servedPagesOnly)
      throw fieldError('request.invalid', 'pdf.page', 'must be the page of this report as the service served it');
    const attempt = { id: sessionId, attemptId: newId(), subject: subjectId, context };
    const print = (): Promise<Printed | null> => this.calls.make(this.printPage, attempt, { ...page, source, fileId });
    const end = await this.inTurn(context, clientAddress, print);
    // When the end of the call is unknown, the stored file proves that the page was printed.
    const isThere = end === null && (await this.files.get(nameOf(fileId))) !== null;
    refuseUnlessPrinted(isThere ? 'printed' : end);
    const expiresAt = new Date(this.clock.now().getTime() + this.policy.limits.pdfLinkSeconds * 1_000);
    return {
      url: await pdfLink(this.vault, this.policy.pdfUrl, fileId, expiresAt),
      expiresAt: expiresAt.toISOString(),
    };
  }

  /**
   * Prints one page at a time for each session grant. All other callers of an account share one turn.
   * So they do not delay the callers with a grant.
   */
  private async inTurn<Result>(
    { accountId, environment, grantId, lineage }: CallerContext,
    clientAddress: string,
    print: () => Promise<Result>,
  ): Promise<Result> {
    const whose = grantId ?? `${accountId}:${environment}`;
    const limit = this.policy.limits.pdfsPerMinute;
    const oneAtATime = 'Another page of this caller is being printed, and pages are printed one at a time.';
    const turn = { key: `pdf-turn:${whose}`, limit: Math.min(1, limit), windowSeconds: TURN_SECONDS, rule: oneAtATime };
    const strangers = { callers: [clientAddress, ...(lineage === undefined ? [] : [lineage])] };
    const rule = limitRule(limit, 'printed pages of one caller', 60, 'PDFS_PER_MINUTE');
    const window = { key: `pdfs:${whose}`, limit, windowSeconds: 60, rule, ...(grantId === undefined && strangers) };
    const refusal = await this.limiter.take([turn, window]);
    if (refusal)
      throw new DomainError('request.rate_limited', {
        retryAfterSeconds: refusal.key === turn.key ? 1 : refusal.retryAfterSeconds,
        ...(refusal.rule !== undefined && { rule: refusal.rule }),
      });
    try {
      return await print();
    } finally {
      await this.limiter.giveBack([turn]);
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
    if (isExpired(state, await this.clock.of(session)) && !(await this.access.ownShare(session)))
      throw new DomainError('report.expired');
    if ((await bodyOf(this.vault, state)) === null) throw new DomainError('report.expired');
    return session;
  }
}

function refuseUnlessPrinted(end: Printed | null): void {
  switch (end) {
    case 'printed':
      return;
    case 'unavailable':
      throw new DomainError('service.unavailable');
    case 'no-browser':
      throw new DomainError('report.printer_missing');
    case null:
    case 'timed-out':
      throw new DomainError('service.upstream_timeout');
    case 'too-large':
      throw fieldError('request.too_large', 'pdf.page', PRINTABLE);
    case 'person-erased':
      throw new DomainError('report.expired');
    default:
      return end satisfies never;
  }
}

/** The file's name in the temporary store. */
export function nameOf(fileId: string): string {
  return `report-pdf:${fileId}`;
}
