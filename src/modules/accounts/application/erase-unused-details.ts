import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Holds } from '../../../published/holds.js';
import { detailsAwaitedBy, embedderOf, sessionGrant } from '../domain/session-grant.js';
import { GrantDetails } from './grant-details.js';
import { GrantExpiry } from './grant-expiry.js';

/**
 * Destroys the details of a session that never began. Such a session has no person, so no erasure of a person would destroy them. Does nothing while
 * a session may still begin. While a legal hold covers the account, the erasure is remembered instead. Safe to repeat.
 */
@UseCase()
export class EraseUnusedDetails extends Command<void> {
  constructor(readonly grantId: string) {
    super();
  }
}

@Handles(EraseUnusedDetails)
export class EraseUnusedDetailsHandler implements ICommandHandler<EraseUnusedDetails> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly details: GrantDetails,
    private readonly expiry: GrantExpiry,
    private readonly holds: Holds,
  ) {}

  async execute({ grantId }: EraseUnusedDetails): Promise<void> {
    const loaded = await this.aggregates.load(sessionGrant, grantId);
    const { state } = loaded;
    if (!detailsAwaitedBy(state) || this.expiry.latestExpiry() < new Date(state.expiresAt)) return;
    const accountId = embedderOf(state);
    const context = systemContext('grant-sweep', { accountId, environment: state.environment });
    const covered = { accountId, subjectIds: [state.detailsSubject], sessionIds: [] };
    const erasure = { kind: 'session-grant', id: grantId, ...covered } as const;
    const record = (kind: 'record-held' | 'record-erased'): Promise<unknown> =>
      this.aggregates.execute(sessionGrant, { id: grantId, known: loaded }, { kind }, context);
    if ((await this.holds.defer(erasure, context)).length > 0) return void (await record('record-held'));
    await this.details.erase(grantId, state.detailsSubject);
    await record('record-erased');
    await this.holds.erased(erasure, context);
  }
}
