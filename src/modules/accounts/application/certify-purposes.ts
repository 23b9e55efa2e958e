import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { Certification } from '../../../kernel/permissible-purpose.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { account } from '../domain/account.js';

/** The account certifies for which purposes it reads reports (docs/contract/general.md#purposes). The certification before is void. */
@UseCase()
export class CertifyPurposes extends Command<void> {
  constructor(
    readonly accountId: string,
    readonly certification: Certification,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(CertifyPurposes)
export class CertifyPurposesHandler implements ICommandHandler<CertifyPurposes> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly clock: Clock,
  ) {}

  async execute({ accountId, certification, context }: CertifyPurposes): Promise<void> {
    await this.aggregates.execute(
      account,
      accountId,
      { kind: 'certify', certification, now: this.clock.now() },
      { ...context, accountId, environment: null },
    );
  }
}
