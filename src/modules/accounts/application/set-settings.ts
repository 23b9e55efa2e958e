import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account, type SettingsToSet } from '../domain/account.js';
import { withLogoWrittenAgain } from './logo.js';
import { VendorRules } from './vendor-rules.js';

/** Settings that are not named stay as they are. */
@UseCase()
export class SetSettings extends Command<void> {
  constructor(
    readonly accountId: string,
    readonly settings: SettingsToSet,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(SetSettings)
export class SetSettingsHandler implements ICommandHandler<SetSettings> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vendors: VendorRules,
  ) {}

  async execute({ accountId, settings, context }: SetSettings): Promise<void> {
    const loaded = await this.aggregates.load(account, accountId);
    if (loaded.state.status === 'open') this.vendors.check(settings, loaded.state.settings);
    await this.aggregates.execute(
      account,
      { id: accountId, known: loaded },
      { kind: 'set', settings: withLogoWrittenAgain(settings) },
      { ...context, accountId, environment: null },
    );
  }
}
