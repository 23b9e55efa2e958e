import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { EndpointChanges } from './endpoint-changes.js';

/** Deletes the endpoint permanently. The endpoint's history stays. An event handler cancels the endpoint's pending deliveries. */
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
  constructor(private readonly endpoints: EndpointChanges) {}

  async execute({ endpointId, context }: DeleteEndpoint): Promise<void> {
    await this.endpoints.admit(context.accountId);
    await this.endpoints.execute(context.accountId, { kind: 'delete', endpointId }, context);
  }
}
