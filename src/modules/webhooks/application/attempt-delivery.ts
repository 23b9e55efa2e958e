import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue, type TooSoon } from '../../../ports/delivery-queue.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { delivery, isDue, type Delivery, type DeliveryState } from '../domain/delivery.js';
import { webhookEndpoint, type Endpoint } from '../domain/endpoint.js';
import { Attempts, type MadeAttempt } from './attempts.js';
import { queueTime, turnOf } from './turns.js';

/** Makes the attempt if it is still due. Returns the receiver's answer, or null when no request was sent. */
@UseCase()
export class AttemptDelivery extends Command<MadeAttempt['answer'] | TooSoon | null> {
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
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  async execute({ deliveryId, kind }: AttemptDelivery): Promise<MadeAttempt['answer'] | TooSoon | null> {
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
    const tooSoon = await this.tooSoon(loaded.state, kind, endpoint, context);
    if (tooSoon !== null) return tooSoon;
    const made = await this.attempts.make(deliveryId, loaded, { of: kind, endpoint, keys: state.keys }, context);
    if (kind === 'ladder') await this.enqueueNext(deliveryId, made?.delivery ?? loaded.state, context);
    return made?.answer ?? null;
  }

  private async enqueueNext(deliveryId: string, next: Delivery, context: ActionContext): Promise<void> {
    // The next attempt is queued even if this attempt was made before, because the earlier process may have died before the queueing.
    const at = next.nextAttemptAt === null ? null : await queueTime(this.clock, context, next.nextAttemptAt);
    if (at !== null) await this.queue.enqueue(turnOf(deliveryId, next, 'ladder'), at);
  }

  /** Null: the attempt has the endpoint's turn, or needs none. One process after another may attempt deliveries of an endpoint, so Redis counts. */
  private async tooSoon(
    state: Delivery,
    kind: AttemptDelivery['kind'],
    { endpointId, maxPerSecond }: Endpoint,
    context: ActionContext,
  ): Promise<TooSoon | null> {
    if (maxPerSecond === null) return null;
    const now = await this.clock.of(context, kind === 'ladder' ? state.nextAttemptAt : null);
    if (!isDue(state, kind, now)) return null;
    const spacingMs = Math.ceil(1_000 / maxPerSecond);
    const turn = { key: `deliveries:${endpointId}`, limit: 1, windowSeconds: spacingMs / 1_000 };
    return (await this.limiter.take([turn])) === null ? null : { spacingMs };
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
