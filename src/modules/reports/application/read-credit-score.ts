import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Parties } from '../../../published/parties.js';
import { KnownParties, refuseLocked, type NamedParty } from './known-parties.js';
import { PartyReading } from './party-reading.js';
import { ReportLinks } from './report-links.js';
import { ReportViewer } from './report-viewer.js';

/**
 * The score of the report that is linked to an agent or organization (docs/contract/direct.md#links).
 * Null when the recipient could not open that report, and when the file is too thin for a score.
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
    private readonly known: KnownParties,
    private readonly parties: Parties,
    private readonly reading: PartyReading,
    private readonly links: ReportLinks,
    private readonly showing: ReportViewer,
  ) {}

  async execute({ recipient: named, renterId, context }: ReadCreditScore): Promise<number | null> {
    await this.reading.admit(context);
    const recipient = await this.known.recipient(named, context);
    refuseLocked(recipient);
    const renter = await this.parties.find('renter', renterId, context);
    const link = renter && recipient.authenticated ? await this.links.newest(renter, recipient) : null;
    if (link === null || link === 'over') return null;
    return (await this.showing.byLink(link, { format: 'score', context }))?.score?.value ?? null;
  }
}
