import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { ReportFormat } from '../domain/report-view.js';
import { ReadPurposes } from './read-purposes.js';
import { ReadRefusals } from './read-refusals.js';
import { ReportAccess } from './report-access.js';
import { ReportRelease } from './report-release.js';
import { ReportViewer, type OpenedReport } from './report-viewer.js';

/**
 * Opens the report of a session for a server with a secret key. The session belongs to the key's account or to a direct child
 * (docs/contract/server.md#readable-sessions). Any other session gets the same 404. The first read pulls the report, and the session's account pays.
 */
@UseCase()
export class OpenReportOnServer extends Command<OpenedReport> {
  constructor(
    readonly sessionId: string,
    readonly format: ReportFormat,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(OpenReportOnServer)
export class OpenReportOnServerHandler implements ICommandHandler<OpenReportOnServer> {
  constructor(
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly release: ReportRelease,
    private readonly viewer: ReportViewer,
    private readonly refusals: ReadRefusals,
  ) {}

  async execute({ sessionId, format, context }: OpenReportOnServer): Promise<OpenedReport> {
    await this.access.countRead(context);
    return this.refusals.noting({ sessionId, format, context }, async () => {
      const session = await this.access.sessionOnServer(sessionId, context);
      await this.access.admitOwner(session);
      const read = await this.purposes.of(session, context);
      const released = await this.release.released(session, { ...context, read });
      return this.viewer.toOwner(session, released, { format, context, read });
    });
  }
}
