import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { idOfShare, share } from '../domain/share.js';
import { PartyReports, type NamedParty } from './party-reports.js';
import { ReportAccess } from './report-access.js';
import { ReportPolicy } from './report-policy.js';

/**
 * Revokes at once all links of a renter's reports to an agent or organization. Without links the command does nothing. A revocation works even for
 * locked parties, because a revoked report must not reappear when a lock ends.
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
    private readonly aggregates: AggregateStore,
    private readonly reports: PartyReports,
    private readonly access: ReportAccess,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ recipient: named, renterId, context }: UnlinkReport): Promise<void> {
    const renter = await this.reports.renter(renterId, context);
    const recipient = await this.reports.recipient(named, context);
    await this.limiter.admit([this.policy.sharing(renter.partyId)]);
    const command = { kind: 'revoke', now: await this.clock.of(context) } as const;
    for (const link of await this.access.links(renter, recipient))
      await this.aggregates.execute(share, idOfShare(link), command, context);
  }
}
