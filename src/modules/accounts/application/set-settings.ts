import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
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
  constructor(private readonly handling: Handling) {}

  async execute({ accountId, settings, context }: SetSettings): Promise<void> {
    await this.handling.handle(
      account,
      accountId,
      { kind: 'set', settings },
      { ...context, accountId, environment: null },
    );
  }
}
