import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { KnownParties, type NamedParty } from './known-parties.js';
import { ReportLinks } from './report-links.js';
import { ReportPolicy } from './report-policy.js';

/**
 * Revokes all links of a renter's reports to an agent or organization, at once. Without links it does nothing.
 * Works even for locked parties, because a revoked report must not reappear when a lock ends.
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
