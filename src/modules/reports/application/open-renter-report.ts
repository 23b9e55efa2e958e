import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PartyReports, type PartyReport, type ReportQuery } from './party-reports.js';
import { ReadPurposes } from './read-purposes.js';
import { ReadRefusals } from './read-refusals.js';
import { ReportAccess } from './report-access.js';
import { ReportViewer } from './report-viewer.js';

/** Opens the report of a renter for the account's server. The first read pulls and bills the report (docs/contract/direct.md#reports). */
@UseCase()
export class OpenRenterReport extends Command<PartyReport> {
  constructor(
    readonly renterId: string,
    readonly query: ReportQuery,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(OpenRenterReport)
export class OpenRenterReportHandler implements ICommandHandler<OpenRenterReport> {
  constructor(
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly reports: PartyReports,
    private readonly viewer: ReportViewer,
    private readonly refusals: ReadRefusals,
  ) {}

  async execute({ renterId, query, context }: OpenRenterReport): Promise<PartyReport> {
    await this.access.countRead(context);
    const renter = await this.reports.renter(renterId, context);
    const { format } = query;
    return this.refusals.noting({ sessionId: renter.sessionIds.at(-1), format, context }, async () => {
      const session = await this.reports.confirmedSession(renter);
      await this.access.admitOwner(session);
      const read = await this.purposes.of(session, context);
      const released = await this.reports.released(session, { ...context, read });
      const leftOut = await this.reports.leftOut(renter, query);
      const opened = await this.viewer.toOwner(session, released, { format, context, read });
      return { opened, leftOut };
    });
  }
}
