import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account, DEFAULT_SETTINGS, wrong, type SettingsToSet } from '../domain/account.js';
import { withLogoWrittenAgain } from './logo.js';
import { VendorRules } from './vendor-rules.js';

/** A second opening of the account changes nothing. */
@UseCase()
export class OpenAccount extends Command<void> {
  constructor(
    readonly request: {
      readonly accountId: string;
      readonly name: string;
      readonly parentId: string | null;
      readonly settings: SettingsToSet;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(OpenAccount)
export class OpenAccountHandler implements ICommandHandler<OpenAccount> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vendors: VendorRules,
  ) {}

  async execute({ request: { accountId, name, parentId, settings }, context }: OpenAccount): Promise<void> {
    if (parentId !== null && (await this.aggregates.load(account, parentId)).state.status !== 'open') {
      throw wrong('parent', 'There is no account with the id given as the parent.');
    }
    this.vendors.check(settings, DEFAULT_SETTINGS);
    await this.aggregates.execute(
      account,
      accountId,
      { kind: 'open', name, parentId, settings: withLogoWrittenAgain(settings) },
      { ...context, accountId, environment: null },
    );
  }
}
