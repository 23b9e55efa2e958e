import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account, type Settings } from '../domain/account.js';

/** Settings that are not named stay as they are. */
@UseCase()
export class SetSettings extends Command<void> {
  constructor(
    readonly accountId: string,
    readonly settings: Partial<Settings>,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(SetSettings)
export class SetSettingsHandler implements ICommandHandler<SetSettings> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ accountId, settings, context }: SetSettings): Promise<void> {
    await this.aggregates.execute(
      account,
      accountId,
      { kind: 'set', settings },
      { ...context, accountId, environment: null },
    );
  }
}
