import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { KnownParties, refuseLocked, type NamedParty } from './known-parties.js';
import { ReportLinks } from './report-links.js';

/**
 * Takes every report of a renter back from an agent or organization, at once. Nothing happens where none is linked. While the recipient
 * is locked out, this is refused as all its calls are: it cannot open the report then. A renter's own lock is nothing in the way.
 */
@UseCase()
export class UnlinkReport extends Command<void> {
  constructor(
    readonly recipient: NamedParty,
    readonly renterId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(UnlinkReport)
export class UnlinkReportHandler implements ICommandHandler<UnlinkReport> {
  constructor(
    private readonly parties: KnownParties,
    private readonly links: ReportLinks,
  ) {}

  async execute({ recipient: named, renterId, context }: UnlinkReport): Promise<void> {
    const renter = await this.parties.renter(renterId, context);
    const recipient = await this.parties.recipient(named, context);
    refuseLocked(recipient);
    await this.links.revoke(renter, recipient, context);
  }
}
