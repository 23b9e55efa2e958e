import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { delivery } from '../domain/delivery.js';
import { webhookEndpoint } from '../domain/endpoint.js';
import { WebhookPolicy } from './webhook-policy.js';

/** Counts a delivery that ran out of attempts against the health of its endpoint, once (docs/contract/webhooks.md#endpoint-health). */
@Injectable()
export class WhenDeliveryExhausted implements EventHandler {
  readonly name = 'webhook_exhaustion';
  readonly categories = [delivery.category];
  readonly types: ReadonlySet<string> = new Set(['DeliveryExhausted']);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const deliveryId = idOf(event.stream);
    const { accountId, occurredAt } = event.metadata;
    const { state } = await this.aggregates.load(delivery, deliveryId);
    if (state.status === 'none' || accountId === null) return;
    const command = {
      kind: 'count-exhausted',
      endpointId: state.endpointId,
      deliveryId,
      endedAt: occurredAt,
      now: this.clock.now(),
      policy: this.policy.health,
    } as const;
    await this.aggregates.execute(webhookEndpoint, accountId, command, {
      ...systemContext('webhook-health', event.metadata),
      causationId: event.id,
    });
  }
}
