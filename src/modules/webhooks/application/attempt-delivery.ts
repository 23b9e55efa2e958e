import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { delivery, type Delivery, type DeliveryState } from '../domain/delivery.js';
import { webhookEndpoint, type Endpoint } from '../domain/endpoint.js';
import { Attempts, type MadeAttempt } from './attempts.js';
import { turnOf } from './turns.js';

/** Makes the attempt if it is still due. Returns the receiver's answer, or null when no request was sent. */
@UseCase()
export class AttemptDelivery extends Command<MadeAttempt['answer'] | null> {
  constructor(
    readonly deliveryId: string,
    readonly kind: 'ladder' | 'redelivery',
  ) {
    super();
  }
}

@Handles(AttemptDelivery)
export class AttemptDeliveryHandler implements ICommandHandler<AttemptDelivery> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly endpoints: GroupedStream,
    private readonly attempts: Attempts,
    private readonly queue: DeliveryQueue,
  ) {}

  async execute({ deliveryId, kind }: AttemptDelivery): Promise<MadeAttempt['answer'] | null> {
    await this.attempts.recordRefused();
    const loaded: LoadedAggregate<DeliveryState> = await this.aggregates.load(delivery, deliveryId);
    const [scheduled] = loaded.history;
    const accountId = loaded.owner?.accountId;
    if (loaded.state.status === 'none' || !scheduled || !accountId) return null;
    const context: ActionContext & { readonly accountId: string } = {
      ...systemContext('webhooks', loaded.owner),
      accountId,
      correlationId: scheduled.metadata.$correlationId,
      causationId: scheduled.id,
      skipReadYourWrites: true,
    };
    const { state } = await this.endpoints.load(webhookEndpoint, accountId);
    const endpoint = await this.usable(deliveryId, loaded.state, state.current, context);
    if (endpoint === null) return null;
    const made = await this.attempts.make(deliveryId, loaded, { of: kind, endpoint, keys: state.keys }, context);
    const next = made?.delivery ?? loaded.state;
    // The next attempt is queued even if this attempt was made before, because the earlier process may have died before the queueing.
    if (kind === 'ladder' && next.nextAttemptAt !== null)
      await this.queue.enqueue(turnOf(deliveryId, next, 'ladder'), new Date(next.nextAttemptAt));
    return made?.answer ?? null;
  }

  /** Returns the endpoint if it may still receive the delivery. If not, cancels the delivery and returns null. */
  private async usable(
    deliveryId: string,
    { endpointId }: Delivery,
    endpoint: Endpoint | null,
    context: ActionContext,
  ): Promise<Endpoint | null> {
    if (endpoint?.endpointId === endpointId && endpoint.status !== 'disabled') return endpoint;
    const cause = endpoint?.endpointId === endpointId ? 'ENDPOINT_DISABLED' : 'ENDPOINT_DELETED';
    await this.aggregates.execute(delivery, deliveryId, { kind: 'cancel', cause }, context);
    return null;
  }
}
