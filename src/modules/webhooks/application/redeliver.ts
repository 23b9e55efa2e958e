import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { delivery, type Delivery, type DeliveryState } from '../domain/delivery.js';
import { current, webhookEndpoint } from '../domain/endpoint.js';
import { turnOf } from './turns.js';
import { WebhookPolicy } from './webhook-policy.js';

/** Requests one more attempt at once, under the same event id. A redelivery uses up no scheduled attempt (docs/contract/webhooks.md#redelivery). */
@UseCase()
export class Redeliver extends Command<Delivery> {
  constructor(
    readonly endpointId: string,
    readonly deliveryId: string,
    readonly context: ActionContext & { readonly accountId: string },
  ) {
    super();
  }
}

@Handles(Redeliver)
export class RedeliverHandler implements ICommandHandler<Redeliver> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly endpoints: GroupedStream,
    private readonly queue: DeliveryQueue,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ endpointId, deliveryId, context }: Redeliver): Promise<Delivery> {
    const { accountId } = context;
    const endpoint = current((await this.endpoints.load(webhookEndpoint, accountId)).state, endpointId);
    const loaded: LoadedAggregate<DeliveryState> | null = isId(deliveryId)
      ? await this.aggregates.load(delivery, deliveryId)
      : null;
    if (
      !loaded ||
      loaded.state.status === 'none' ||
      loaded.state.endpointId !== endpointId ||
      loaded.state.kind === 'ping'
    )
      throw new DomainError('webhook.endpoint_not_found');
    if (endpoint.status === 'disabled') throw new DomainError('webhook.endpoint_disabled');
    const now = await this.clock.of(context);
    const command = { kind: 'redeliver', now, intervalSeconds: this.policy.redeliveryIntervalSeconds } as const;
    const { state } = await this.aggregates.execute(delivery, { id: deliveryId, known: loaded }, command, context);
    if (state.status === 'none') throw new DomainError('webhook.endpoint_not_found');
    await this.queue.enqueue(turnOf(deliveryId, state, 'redelivery'), this.clock.now()).catch(leaveToRecovery);
    return state;
  }
}

/**
 * The log has the redelivery, so the recovery job will make it. If the caller got an error and tried again, the second request would be too early.
 */
function leaveToRecovery(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}
