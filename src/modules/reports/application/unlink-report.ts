import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { KnownParties, type NamedParty } from './known-parties.js';
import { ReportLinks } from './report-links.js';
import { ReportPolicy } from './report-policy.js';

/**
 * Takes every report of a renter back from an agent or organization, at once. Nothing happens where none is linked. Nobody's lock is in
 * the way: what the consumer takes back must not be seen again when the lock is over.
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
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
  ) {}

  async execute({ recipient: named, renterId, context }: UnlinkReport): Promise<void> {
    const renter = await this.parties.renter(renterId, context);
    const recipient = await this.parties.recipient(named, context);
    await this.limiter.admit([this.policy.sharing(renter.partyId)]);
    await this.links.revoke(renter, recipient, context);
  }
}
