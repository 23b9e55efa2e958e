import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/fact.js';
import { Handling } from '../../../platform/handling/handling.js';
import type { Reaction } from '../../../ports/reactions.js';
import { delivery } from '../domain/delivery.js';
import { webhookEndpoint } from '../domain/endpoint.js';
import { WebhookPolicy } from './webhook-policy.js';

/** Counts a delivery that ran out of attempts against the health of its endpoint, once (decisions 7.2). */
@Injectable()
export class WhenDeliveryExhausted implements Reaction {
  readonly name = 'webhook_exhaustion';
  readonly categories = [delivery.category];
  readonly types: ReadonlySet<string> = new Set(['DeliveryExhausted']);

  constructor(
    private readonly handling: Handling,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const deliveryId = idOf(event.stream);
    const { accountId, occurredAt } = event.metadata;
    const { state } = await this.handling.load(delivery, deliveryId);
    if (state.status === 'none' || accountId === null) return;
    const command = {
      kind: 'count-exhausted',
      endpointId: state.endpointId,
      deliveryId,
      endedAt: occurredAt,
      now: this.clock.now(),
      policy: this.policy.health,
    } as const;
    await this.handling.handle(webhookEndpoint, accountId, command, {
      ...systemContext('webhook-health', event.metadata),
      causationId: event.id,
    });
  }
}
