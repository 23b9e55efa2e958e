import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { KnownParties, refuseLocked, type NamedParty } from './known-parties.js';
import { PartyReading, type PartyReport, type ReportQuery } from './party-reading.js';
import { ReportLinks } from './report-links.js';
import { ReportViewer } from './report-viewer.js';

/**
 * Opens the report of a renter for an agent or organization that it is linked to.
 * They see the report as released, and nothing is billed (docs/contract/direct.md#links).
 */
@UseCase()
export class OpenLinkedReport extends Query<PartyReport> {
  constructor(
    readonly request: {
      readonly recipient: NamedParty;
      readonly renterId: string;
      readonly query: ReportQuery;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(OpenLinkedReport)
export class OpenLinkedReportHandler implements IQueryHandler<OpenLinkedReport> {
  constructor(
    private readonly parties: KnownParties,
    private readonly reading: PartyReading,
    private readonly links: ReportLinks,
    private readonly showing: ReportViewer,
  ) {}

  async execute({ request: { recipient: named, renterId, query }, context }: OpenLinkedReport): Promise<PartyReport> {
    await this.reading.admit(context);
    const recipient = await this.parties.recipient(named, context);
    const renter = await this.parties.renter(renterId, context);
    refuseLocked(recipient);
    if (!recipient.authenticated) throw new DomainError('party.recipient_not_authenticated');
    const link = await this.links.newest(renter, recipient);
    if (link === 'over') throw new DomainError('party.link_over');
    const leftOut = await this.reading.leftOut(renter, query);
    const opened = link && (await this.showing.byLink(link, { format: query.format, context }));
    if (opened === null) throw new DomainError('party.report_not_linked');
    return { opened, leftOut };
  }
}
