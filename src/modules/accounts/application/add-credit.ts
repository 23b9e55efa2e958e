import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Refusal } from '../../../kernel/refusal.js';
import { Handling } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { account } from '../domain/account.js';
import { credit } from '../domain/credit.js';

/** Adds to the prepaid credit of an account, once per reference: adding again under the same one changes nothing. */
@UseCase()
export class AddCredit extends Command<void> {
  constructor(
    readonly accountId: string,
    /** Whole reports. */
    readonly credits: number,
    /** Such as the number of an invoice; never a name or a mail address. */
    readonly reference: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(AddCredit)
export class AddCreditHandler implements ICommandHandler<AddCredit> {
  constructor(private readonly handling: Handling) {}

  async execute({ accountId, credits, reference, context }: AddCredit): Promise<void> {
    if ((await this.handling.load(account, accountId)).state.status !== 'open')
      throw new Refusal('request.not_found', { field: 'account' });
    await this.handling.handle(
      credit,
      accountId,
      { kind: 'add', credits, reference },
      { ...context, accountId, environment: null },
    );
  }
}
