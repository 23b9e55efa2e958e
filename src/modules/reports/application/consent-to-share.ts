import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Vault } from '../../../ports/vault.js';
import { keepCaller } from '../../../ports/vault-entry.js';
import { isExpired } from '../domain/report.js';
import { share, shareIdOf, stillShared, type ActiveShare } from '../domain/share.js';
import { registering } from '../domain/share-register.js';
import { ReadPurposes } from './read-purposes.js';
import { ReportAccess } from './report-access.js';
import { bodyOf } from './report-bodies.js';
import { ReportPolicy } from './report-policy.js';
import { ReportRelease } from './report-release.js';
import { ShareRecipient, type NamedRecipient } from './share-recipient.js';

/** The consumer shares the report with one account. A repeated request changes nothing and gets the same reply. */
@UseCase()
export class ConsentToShare extends Command<ActiveShare> {
  constructor(
    readonly sessionId: string,
    readonly recipient: NamedRecipient,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ConsentToShare)
export class ConsentToShareHandler implements ICommandHandler<ConsentToShare> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly access: ReportAccess,
    private readonly purposes: ReadPurposes,
    private readonly recipients: ShareRecipient,
    private readonly release: ReportRelease,
    private readonly vault: Vault,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, recipient, context }: ConsentToShare): Promise<ActiveShare> {
    const session = await this.access.ownSession(sessionId, context);
    const recipientAccountId = await this.recipients.of(session, recipient);
    await this.limiter.admit([this.policy.sharing(sessionId)]);
    const id = shareIdOf(sessionId, recipientAccountId);
    const loaded = await this.aggregates.load(share, id);
    if (loaded.state.status !== 'NONE') return stillShared(loaded.state, await this.clock.of(context));
    await this.access.admitOwner(session);
    // Only a released report can be shared, because the recipient sees that report and never pulls another.
    const read = await this.purposes.of(session, context);
    const released = await this.release.released(session, { ...context, read });
    const now = await this.clock.of(context);
    if (isExpired(released, now) || (await bodyOf(this.vault, released)) === null)
      throw new DomainError('report.expired');
    await keepCaller(this.vault, released.subjectId, context);
    const command = {
      kind: 'share',
      now,
      reportId: released.reportId,
      sessionId,
      recipientAccountId,
      purpose: read.purpose,
      windowSeconds: this.policy.limits.shareWindowSeconds,
    } as const;
    const [, { state }] = await this.aggregates.appendTogether(
      [registering(sessionId, id), { decider: share, id, known: loaded, command }],
      context,
    );
    if (state.status === 'NONE') throw new Error(`Share ${id} does not exist after it was made`);
    return stillShared(state, now);
  }
}
