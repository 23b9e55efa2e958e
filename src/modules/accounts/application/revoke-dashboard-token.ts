import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { EventStore } from '../../../ports/event-store.js';
import { account, type AccountEvent } from '../domain/account.js';
import { dashboardToken } from '../domain/dashboard-token.js';

/** The service refuses the token from the next request on. A second revocation changes nothing. */
@UseCase()
export class RevokeDashboardToken extends Command<void> {
  constructor(
    /** One of these accounts must be the account of the token. */
    readonly accountIds: readonly string[],
    readonly tokenId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(RevokeDashboardToken)
export class RevokeDashboardTokenHandler implements ICommandHandler<RevokeDashboardToken> {
  constructor(
    private readonly store: EventStore,
    private readonly aggregates: AggregateStore,
  ) {}

  async execute({ accountIds, tokenId, context }: RevokeDashboardToken): Promise<void> {
    for (const accountId of accountIds) {
      const history = await this.store.readStream(`${account.category}-${accountId}`);
      const issued = (history as readonly RecordedEvent<AccountEvent>[]).find(
        ({ type, data }) => type === 'DashboardTokenIssued' && 'tokenId' in data && data.tokenId === tokenId,
      );
      if (issued === undefined) continue;
      const owner = { accountId, environment: issued.metadata.environment };
      await this.aggregates.execute(dashboardToken, tokenId, { kind: 'revoke' }, { ...context, ...owner });
      return;
    }
    throw new DomainError('request.not_found', { field: 'token' });
  }
}
