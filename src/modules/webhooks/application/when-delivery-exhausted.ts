import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { Accounts } from '../../../published/accounts.js';
import { delivery } from '../domain/delivery.js';
import { endpointRecord } from '../domain/endpoint-record.js';
import { EndpointChanges } from './endpoint-changes.js';
import { WebhookPolicy } from './webhook-policy.js';

/**
 * Counts an exhausted delivery once for the health of its endpoint (docs/contract/webhooks.md#endpoint-health). The handler records nothing for an
 * endpoint that is already failing, so that a dead receiver adds no events except those of its deliveries.
 */
@Injectable()
export class WhenDeliveryExhausted implements EventHandler {
  readonly name = 'webhook_exhaustion';
  readonly categories = [delivery.category];
  readonly types: ReadonlySet<string> = new Set(['DeliveryExhausted']);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly streams: GroupedStream,
    private readonly endpoints: EndpointChanges,
    private readonly policy: WebhookPolicy,
    private readonly clock: Clock,
    private readonly accounts: Accounts,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const deliveryId = idOf(event.stream);
    const { accountId, occurredAt, recordedAt } = event.metadata;
    if (accountId === null) return;
    // A test clock cannot disable an endpoint that live traffic shares.
    if (recordedAt !== undefined && (await this.accounts.find(accountId))?.provisionedForLive) return;
    const { current, run } = (await this.streams.load(endpointRecord, accountId)).state;
    // The count begins again after a success, and when the account changes the endpoint. Deliveries that were exhausted
    // before no longer count.
    if (current?.status !== 'active' || event.position < run.from) return;
    const { state } = await this.aggregates.load(delivery, deliveryId);
    if (state.status === 'none') return;
    // A test account may have turned its clock further meanwhile.
    const now = await this.clock.of({ accountId, environment: null }, occurredAt);
    const command = {
      kind: 'count-exhausted',
      endpointId: state.endpointId,
      deliveryId,
      endedAt: occurredAt,
      run: current.run,
      now,
      policy: this.policy.health,
    } as const;
    await this.endpoints.execute(accountId, command, {
      ...systemContext('webhook-health', event.metadata),
      causationId: event.id,
      at: now,
    });
  }
}
