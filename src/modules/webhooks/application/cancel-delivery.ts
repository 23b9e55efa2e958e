import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { delivery } from '../domain/delivery.js';

/** Ends what was pending when its endpoint was deleted or disabled. One that is over, or that came later, stays as it is. */
@UseCase()
export class CancelDelivery extends Command<void> {
  constructor(
    readonly deliveryId: string,
    readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED',
    /** When the endpoint ended, ISO 8601 UTC. */
    readonly endedAt: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(CancelDelivery)
export class CancelDeliveryHandler implements ICommandHandler<CancelDelivery> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ deliveryId, cause, endedAt, context }: CancelDelivery): Promise<void> {
    const loaded = await this.aggregates.load(delivery, deliveryId);
    const scheduled = loaded.history[0]?.metadata;
    if (scheduled === undefined || scheduled.occurredAt > endedAt) return;
    await this.aggregates.execute(delivery, deliveryId, { kind: 'cancel', cause }, context, loaded);
  }
}
