import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PartyReports, refuseLocked, type NamedParty, type PartyReport, type ReportQuery } from './party-reports.js';
import { ReadPurposes } from './read-purposes.js';
import { ReadRefusals } from './read-refusals.js';
import { ReportAccess } from './report-access.js';
import { ReportViewer } from './report-viewer.js';

/**
 * Opens the report of a renter for an agent or organization with a link to it. The recipient sees the report as it was released, and nothing is
 * billed (docs/contract/direct.md#links).
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
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly reports: PartyReports,
    private readonly viewer: ReportViewer,
    private readonly refusals: ReadRefusals,
  ) {}

  async execute({ request: { recipient: named, renterId, query }, context }: OpenLinkedReport): Promise<PartyReport> {
    await this.access.countRead(context);
    const recipient = await this.reports.recipient(named, context);
    const renter = await this.reports.renter(renterId, context);
    const { format } = query;
    return this.refusals.noting({ sessionId: renter.sessionIds.at(-1), format, context }, async () => {
      refuseLocked(recipient);
      if (!recipient.authenticated) throw new DomainError('party.recipient_not_authenticated');
      const link = await this.access.newestLink(renter, recipient, context);
      if (link === 'over') throw new DomainError('party.link_over');
      const leftOut = await this.reports.leftOut(renter, query);
      const read = link && (await this.purposes.ofSession(link.sessionId, context));
      const opened = link && read && (await this.viewer.byLink(link, { format, context, read }));
      if (opened === null) throw new DomainError('party.report_not_linked');
      return { opened, leftOut };
    });
  }
}
