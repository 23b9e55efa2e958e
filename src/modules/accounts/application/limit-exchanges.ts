import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/** Limits the token exchanges per minute of one publishable key. With null, the limit of the key's account applies. */
@UseCase()
export class LimitExchanges extends Command<void> {
  constructor(
    readonly keyId: string,
    readonly perMinute: number | null,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(LimitExchanges)
export class LimitExchangesHandler implements ICommandHandler<LimitExchanges> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ keyId, perMinute, context }: LimitExchanges): Promise<void> {
    const loaded = await this.aggregates.load(accessKey, keyId);
    await this.aggregates.execute(
      accessKey,
      { id: keyId, known: loaded },
      { kind: 'limit-exchanges', perMinute },
      contextOf(loaded.state, context),
    );
  }
}
