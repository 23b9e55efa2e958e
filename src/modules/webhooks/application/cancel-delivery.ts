import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { EventStore } from '../../../ports/event-store.js';
import { delivery } from '../domain/delivery.js';

/** Cancels a delivery that was pending when its endpoint was deleted or disabled. A delivery that had ended, or that was made later, is unchanged. */
@UseCase()
export class CancelDelivery extends Command<void> {
  constructor(
    readonly request: {
      readonly deliveryId: string;
      /** The endpoint that was deleted or disabled. The list of deliveries may contain a delivery of another endpoint. */
      readonly endpointId: string;
      readonly cause: 'ENDPOINT_DELETED' | 'ENDPOINT_DISABLED';
      /** The position in the log of the event that deleted or disabled the endpoint. */
      readonly endedAt: string;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(CancelDelivery)
export class CancelDeliveryHandler implements ICommandHandler<CancelDelivery> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly store: EventStore,
  ) {}

  async execute({ request: { deliveryId, endpointId, cause, endedAt }, context }: CancelDelivery): Promise<void> {
    const [scheduled] = await this.store.readStream(`${delivery.category}-${deliveryId}`, { limit: 1 });
    if (scheduled === undefined || scheduled.position > endedAt) return;
    const { state } = await this.aggregates.load(delivery, deliveryId);
    if (state.status === 'none' || state.endpointId !== endpointId) return;
    await this.aggregates.execute(delivery, deliveryId, { kind: 'cancel', cause }, context);
  }
}
