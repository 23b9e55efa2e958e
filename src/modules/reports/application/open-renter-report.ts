import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { KnownParties } from './known-parties.js';
import { PartyReading, type PartyReport, type ReportQuery } from './party-reading.js';
import { RenterReports } from './renter-reports.js';
import { ReportAccess } from './report-access.js';
import { ReportViewer } from './report-viewer.js';

/** Opens the report of a renter for the account's server. The first read pulls and bills it (docs/contract/direct.md#reports). */
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
    private readonly parties: KnownParties,
    private readonly reading: PartyReading,
    private readonly reports: RenterReports,
    private readonly access: ReportAccess,
    private readonly showing: ReportViewer,
  ) {}

  async execute({ renterId, query, context }: OpenRenterReport): Promise<PartyReport> {
    await this.reading.admit(context);
    const renter = await this.parties.renter(renterId, context);
    const session = await this.reports.confirmedSession(renter);
    await this.access.admitOwner(session);
    const released = await this.reports.released(session, context);
    const leftOut = await this.reading.leftOut(renter, query);
    const opened = await this.showing.toOwner(session, released, { format: query.format, context });
    return { opened, leftOut };
  }
}
