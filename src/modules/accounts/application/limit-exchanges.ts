import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { accessKey } from '../domain/access-key.js';
import { contextOf } from './key-context.js';

/** Token exchanges a minute of one publishable key; null gives it back to its account's limit. */
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
  constructor(private readonly handling: Handling) {}

  async execute({ keyId, perMinute, context }: LimitExchanges): Promise<void> {
    const loaded = await this.handling.load(accessKey, keyId);
    await this.handling.handle(
      accessKey,
      keyId,
      { kind: 'limit-exchanges', perMinute },
      contextOf(loaded.state, context),
      loaded,
    );
  }
}
