import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { share, shareIdOf, type RevokedShare } from '../domain/share.js';
import { shareRegister } from '../domain/share-register.js';
import { ReportAccess } from './report-access.js';
import { ReportPolicy } from './report-policy.js';
import { ShareRecipient } from './share-recipient.js';

/** The consumer revokes a share immediately and permanently: the share with the named account, or all shares (docs/contract/platform.md#sharing). */
@UseCase()
export class RevokeSharing extends Command<readonly [RevokedShare, ...RevokedShare[]]> {
  constructor(
    readonly sessionId: string,
    /** `listedIds`: the shares that the read models list. Some of these shares may be older than the register. */
    readonly from: { readonly recipientAccountId: string } | { readonly listedIds: readonly string[] },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(RevokeSharing)
export class RevokeSharingHandler implements ICommandHandler<RevokeSharing> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly access: ReportAccess,
    private readonly recipients: ShareRecipient,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, from, context }: RevokeSharing): Promise<readonly [RevokedShare, ...RevokedShare[]]> {
    await this.access.ownSession(sessionId, context);
    await this.limiter.admit([this.policy.sharing(sessionId)]);
    if ('recipientAccountId' in from) {
      const { accountId } = await this.recipients.named(from.recipientAccountId);
      return [await this.revoke(shareIdOf(sessionId, accountId), context)];
    }
    const { state: registered } = await this.aggregates.load(shareRegister, sessionId);
    const ids = [...new Set([...registered, ...from.listedIds])];
    const loaded = await Promise.all(ids.map(async (id) => ({ id, ...(await this.aggregates.load(share, id)) })));
    const shares = loaded.filter(({ state }) => state.status !== 'NONE' && state.sessionId === sessionId);
    const [first, ...others] = shares.filter(({ state }) => state.status === 'SHARED');
    if (!first) throw new DomainError(shares.length > 0 ? 'sharing.already_revoked' : 'sharing.not_found');
    return [
      await this.revoke(first.id, context),
      ...(await Promise.all(others.map(({ id }) => this.revoke(id, context)))),
    ];
  }

  private async revoke(id: string, context: CallerContext): Promise<RevokedShare> {
    const command = { kind: 'revoke', now: await this.clock.of(context) } as const;
    const { state } = await this.aggregates.execute(share, id, command, context);
    if (state.status !== 'REVOKED') throw new Error(`Share ${id} is not revoked after it was`);
    return state;
  }
}
