import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { derivedIdLike, newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { limitRule, RateLimiter } from '../../../ports/rate-limiter.js';
import type { WebhookAnswer } from '../../../ports/webhook-sender.js';
import { delivery } from '../domain/delivery.js';
import { bodyOf } from '../domain/feed.js';
import { current, webhookEndpoint } from '../domain/endpoint.js';
import { Attempts } from './attempts.js';
import { WebhookPolicy } from './webhook-policy.js';

export interface Ping {
  readonly deliveryId: string;
  readonly answer: WebhookAnswer;
}

/**
 * Sends a signed `ping` once and waits for the answer. A ping changes neither the endpoint's health nor the retry schedule
 * (docs/contract/webhooks.md#pings).
 */
@UseCase()
export class PingEndpoint extends Command<Ping> {
  constructor(
    readonly endpointId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(PingEndpoint)
export class PingEndpointHandler implements ICommandHandler<PingEndpoint> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly endpoints: GroupedStream,
    private readonly attempts: Attempts,
    private readonly limiter: RateLimiter,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ endpointId, context }: PingEndpoint): Promise<Ping> {
    const { accountId, environment } = context;
    const { state } = await this.endpoints.load(webhookEndpoint, accountId);
    const endpoint = current(state, endpointId);
    if (endpoint.status === 'disabled') throw new DomainError('webhook.endpoint_disabled');
    const limit = this.policy.pingsPerSecond;
    const rule = limitRule(limit, 'pings of one account', 1, 'PINGS_PER_SECOND');
    await this.limiter.admit([{ key: `pings:${accountId}`, limit, windowSeconds: 1, rule }]);
    const source = newId();
    const deliveryId = derivedIdLike(source, 'ping', endpointId);
    const eventId = `evt_${source}`;
    const now = (await this.clock.of(context)).toISOString();
    const body = bodyOf({
      id: eventId,
      type: 'ping',
      schema_version: 1,
      occurred_at: now,
      environment,
      account_id: accountId,
      data: { endpoint_id: endpointId },
    });
    const scheduled = {
      endpointId,
      eventId,
      eventType: 'ping',
      occurredAt: now,
      body,
      kind: 'ping',
      nextAttemptAt: now,
    } as const;
    const known = await this.aggregates.execute(
      delivery,
      { id: deliveryId, known: unstored(delivery.initial) },
      { kind: 'schedule', delivery: scheduled },
      context,
    );
    const made = await this.attempts.make(deliveryId, known, { of: 'ping', endpoint, keys: state.keys }, context);
    if (made === null) throw new Error(`The ping ${deliveryId} is not due`);
    return { deliveryId, answer: made.answer };
  }
}
