import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { isExpired } from '../domain/report.js';
import type { ReportFormat } from '../domain/report-view.js';
import { ReadPurposes } from './read-purposes.js';
import { ReadRefusals } from './read-refusals.js';
import { ReportAccess } from './report-access.js';
import { ReportRelease } from './report-release.js';
import { ReportViewer, type OpenedReport } from './report-viewer.js';

/**
 * Opens the report of a session on the platform API, for the session's own account or for an account with a share. The first read by the session's
 * own account pulls and bills the report.
 */
@UseCase()
export class OpenReport extends Command<OpenedReport> {
  constructor(
    readonly sessionId: string,
    readonly format: ReportFormat,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(OpenReport)
export class OpenReportHandler implements ICommandHandler<OpenReport> {
  constructor(
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly release: ReportRelease,
    private readonly viewer: ReportViewer,
    private readonly refusals: ReadRefusals,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, format, context }: OpenReport): Promise<OpenedReport> {
    await this.access.countRead(context);
    return this.refusals.noting({ sessionId, format, context }, () => this.open({ sessionId, format, context }));
  }

  private async open({
    sessionId,
    format,
    context,
  }: Pick<OpenReport, 'sessionId' | 'format' | 'context'>): Promise<OpenedReport> {
    const session = await this.access.session(sessionId, context);
    if (session.accountId !== context.accountId) {
      const share = await this.access.shareWith(session, context.accountId);
      return this.viewer.byShare(session, share, { format, context, read: await this.purposes.of(session, context) });
    }
    await this.access.admitOwner(session);
    const read = await this.purposes.of(session, context);
    const released = await this.release.released(session, { ...context, read });
    const viewing = { format, context, read };
    // The consumer may have shared the report with this account too, for a longer time.
    const shared = isExpired(released, await this.clock.of(session)) ? await this.access.ownShare(session) : null;
    return shared ? this.viewer.byShare(session, shared, viewing) : this.viewer.toOwner(session, released, viewing);
  }
}
