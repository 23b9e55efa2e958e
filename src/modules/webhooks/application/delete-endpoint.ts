import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { webhookEndpoint } from '../domain/endpoint.js';

/** For good; the history stays. What is pending is canceled by the reaction to it. */
@UseCase()
export class DeleteEndpoint extends Command<void> {
  constructor(
    readonly endpointId: string,
    readonly context: ActionContext & { readonly accountId: string },
  ) {
    super();
  }
}

@Handles(DeleteEndpoint)
export class DeleteEndpointHandler implements ICommandHandler<DeleteEndpoint> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ endpointId, context }: DeleteEndpoint): Promise<void> {
    await this.aggregates.execute(webhookEndpoint, context.accountId, { kind: 'delete', endpointId }, context);
  }
}
