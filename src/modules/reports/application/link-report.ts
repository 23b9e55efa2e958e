import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import { isExpired } from '../domain/report.js';
import { share, shareIdOf } from '../domain/share.js';
import { registering } from '../domain/share-register.js';
import { PartyReports, refuseLocked, type NamedParty } from './party-reports.js';
import { ReadPurposes } from './read-purposes.js';
import { ReportAccess } from './report-access.js';
import { bodyOf } from './report-bodies.js';
import { ReportPolicy } from './report-policy.js';

/**
 * Links the newest report of a renter to an agent or organization of the same account (docs/contract/direct.md#links). Pulls the report first if
 * needed. The account pays, whether or not the renter has paid. A repeated request changes nothing.
 */
@UseCase()
export class LinkReport extends Command<void> {
  constructor(
    readonly recipient: NamedParty,
    readonly renterId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(LinkReport)
export class LinkReportHandler implements ICommandHandler<LinkReport> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reports: PartyReports,
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly vault: Vault,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ recipient: named, renterId, context }: LinkReport): Promise<void> {
    const renter = await this.reports.renter(renterId, context);
    const recipient = await this.reports.recipient(named, context);
    refuseLocked(recipient);
    await this.limiter.admit([this.policy.sharing(renter.partyId)]);
    const session = await this.reports.confirmedSession(renter);
    await this.access.admitPull(session);
    const read = await this.purposes.of(session, context);
    const released = await this.reports.released(session, { ...context, read });
    const now = await this.clock.of(context);
    if (isExpired(released, now) || (await bodyOf(this.vault, released)) === null)
      throw new DomainError('report.expired');
    const { sessionId, accountId } = session;
    const command = {
      kind: 'share',
      now,
      reportId: released.reportId,
      sessionId,
      recipientAccountId: accountId,
      recipientPartyId: recipient.partyId,
      purpose: read.purpose,
      windowSeconds: this.policy.limits.shareWindowSeconds,
    } as const;
    const id = shareIdOf(sessionId, recipient.partyId);
    await this.aggregates.appendTogether([registering(sessionId, id), { decider: share, id, command }], context);
  }
}
