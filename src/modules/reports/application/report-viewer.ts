import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import type { ReadPurpose } from '../../../kernel/permissible-purpose.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Vault } from '../../../ports/vault.js';
import { keepCaller } from '../../../ports/vault-entry.js';
import { Accounts } from '../../../published/accounts.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { isExpired, report, type ReleasedReport } from '../domain/report.js';
import { reportLooks, type ReportFormat } from '../domain/report-view.js';
import { idOfShare, type ActiveShare } from '../domain/share.js';
import type { CallerContext } from '../../../kernel/context.js';
import { bodyOf, shownDigest, type ReportBody, type StoredBody } from './report-bodies.js';
import { markedPage, requestOf, type ReportRequest } from './served-pages.js';

/** A report for one viewer. Times are ISO 8601 UTC. */
export interface ShownReport extends ReportBody {
  readonly id: string;
  readonly sessionId: string;
  readonly generatedAt: string;
  /** The end of the time in which this viewer may see the report. */
  readonly expiresAt: string;
}

export interface OpenedReport extends ShownReport, StoredBody {
  /** The request that led to the report. */
  request(): Promise<ReportRequest>;
  /** Records the view with a digest of the reply, and returns the reply. A reply must not be sent before. */
  shown<Reply extends Uint8Array | string>(reply: Reply): Promise<Reply>;
  /** The page of this report with a mark at its end, by which the service recognises the page. */
  marked(page: string): Promise<string>;
}

interface Viewing {
  readonly format: ReportFormat;
  readonly context: CallerContext;
  /** The purpose that `ReadPurposes` has accepted. */
  readonly read: ReadPurpose;
}

type Session = Pick<ScreeningFacts, 'sessionId' | 'accountId'>;

/** Returns released reports, and records each view. */
@Injectable()
export class ReportViewer {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly looks: GroupedStream,
    private readonly vault: Vault,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** Shows the report to the session's own account or its parent, while the report has not expired. */
  async toOwner(session: Session, released: ReleasedReport, viewing: Viewing): Promise<OpenedReport> {
    const owner = { accountId: session.accountId, environment: viewing.context.environment };
    if (isExpired(released, await this.clock.of(owner))) throw new DomainError('report.expired');
    return (await this.show(session, released, null, viewing)) ?? refuse('report.expired');
  }

  /** Shows a recipient the report as it was released, at any age and without billing. */
  async byShare(session: Session, shared: ActiveShare, viewing: Viewing): Promise<OpenedReport> {
    return (await this.showShared(session, shared, viewing)) ?? refuse('sharing.expired');
  }

  /** Shows the report to an agent or organization of the account. Null if the person was erased. */
  async byLink(linked: ActiveShare, viewing: Viewing): Promise<OpenedReport | null> {
    return this.showShared({ sessionId: linked.sessionId, accountId: viewing.context.accountId }, linked, viewing);
  }

  private async showShared(session: Session, shared: ActiveShare, viewing: Viewing): Promise<OpenedReport | null> {
    const { state } = await this.aggregates.load(report, session.sessionId);
    if (state.status !== 'RELEASED')
      throw new Error(`The report of session ${session.sessionId} was shared but is not released`);
    return this.show(session, state, shared, viewing);
  }

  /** Null if the person was erased. */
  private async show(
    session: Session,
    released: ReleasedReport,
    shared: ActiveShare | null,
    { format, context, read }: Viewing,
  ): Promise<OpenedReport | null> {
    const { sessionId, accountId } = session;
    const { reportId, generatedAt } = released;
    const body = await bodyOf(this.vault, released);
    if (!body) return null;
    // A report is never shown without a record of the view.
    const shown = async <Reply extends Uint8Array | string>(reply: Reply): Promise<Reply> => {
      await keepCaller(this.vault, released.subjectId, context);
      const digest = await shownDigest(this.vault, released, reply);
      const viewed = {
        sessionId,
        reportId,
        viewerAccountId: context.accountId,
        ...read,
        format,
        shareId: shared && idOfShare(shared),
        ...(digest !== null && { digest }),
      };
      await this.looks.execute(reportLooks, sessionId, { kind: 'record', ...viewed }, { ...context, accountId });
      return reply;
    };
    return Object.assign(body, {
      id: reportId,
      sessionId,
      generatedAt,
      expiresAt: (shared ?? released).expiresAt,
      request: () => requestOf(sessionId, this.screenings, this.accounts),
      marked: (page: string) => markedPage(this.vault, sessionId, page),
      shown,
    });
  }
}

function refuse(code: ErrorCode): never {
  throw new DomainError(code);
}
