import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Parties } from '../../../published/parties.js';
import { PartyReports, refuseLocked, type NamedParty } from './party-reports.js';
import { ReadPurposes } from './read-purposes.js';
import { ReportAccess } from './report-access.js';
import { ReportViewer } from './report-viewer.js';

/**
 * The score of the report that is linked to an agent or organization (docs/contract/direct.md#links). Null if the recipient may not open that
 * report, and when the file is too thin for a score.
 */
@UseCase()
export class ReadCreditScore extends Query<number | null> {
  constructor(
    readonly recipient: NamedParty,
    readonly renterId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ReadCreditScore)
export class ReadCreditScoreHandler implements IQueryHandler<ReadCreditScore> {
  constructor(
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly reports: PartyReports,
    private readonly parties: Parties,
    private readonly viewer: ReportViewer,
  ) {}

  async execute({ recipient: named, renterId, context }: ReadCreditScore): Promise<number | null> {
    await this.access.countRead(context);
    const recipient = await this.reports.recipient(named, context);
    refuseLocked(recipient);
    const renter = await this.parties.find('renter', renterId, context);
    const link = renter && recipient.authenticated ? await this.access.newestLink(renter, recipient, context) : null;
    if (link === null || link === 'over') return null;
    const read = await this.purposes.ofSession(link.sessionId, context);
    const opened = await this.viewer.byLink(link, { format: 'score', context, read });
    const score = opened?.score?.value ?? null;
    await opened?.shown(JSON.stringify(score));
    return score;
  }
}
