import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account } from '../domain/account.js';
import { credit } from '../domain/credit.js';

/** Adds to the prepaid credit of an account, once per reference. A second addition under the same reference changes nothing. */
@UseCase()
export class AddCredit extends Command<void> {
  constructor(
    readonly request: {
      readonly accountId: string;
      /** The number of whole reports. */
      readonly credits: number;
      /** For example the number of an invoice; never a name or a mail address. */
      readonly reference: string;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(AddCredit)
export class AddCreditHandler implements ICommandHandler<AddCredit> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly streams: GroupedStream,
  ) {}

  async execute({ request: { accountId, credits, reference }, context }: AddCredit): Promise<void> {
    if ((await this.aggregates.load(account, accountId)).state.status !== 'open')
      throw new DomainError('request.not_found', { field: 'account' });
    await this.streams.execute(
      credit,
      accountId,
      { kind: 'add', credits, reference },
      { ...context, accountId, environment: null },
    );
  }
}
