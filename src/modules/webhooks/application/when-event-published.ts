import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { categoryOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { derivedIdLike } from '../../../kernel/ids.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { EventStore } from '../../../ports/event-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { PublishedEvents, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { delivery } from '../domain/delivery.js';
import type { Endpoint } from '../domain/endpoint.js';
import { endpointAt, endpointRecord } from '../domain/endpoint-record.js';
import { turnOf } from './turns.js';

/**
 * Turns the events that modules publish into deliveries. The delivery's id is derived from the stored event and the endpoint. An event that is
 * handled again after a crash or a lost checkpoint is therefore not sent again. The state of the endpoint at the event's position in the log decides.
 * Events from before the endpoint existed are therefore never sent (docs/contract/webhooks.md#events).
 */
@Injectable()
export class WhenEventPublished implements EventHandler {
  readonly name = 'webhook_deliveries';
  readonly categories: readonly string[];
  readonly types: ReadonlySet<string>;
  readonly together = 64;
  private readonly publishers: ReadonlyMap<string, Publisher>;

  constructor(
    private readonly published: PublishedEvents,
    private readonly store: EventStore,
    private readonly aggregates: AggregateStore,
    private readonly endpoints: GroupedStream,
    private readonly queue: DeliveryQueue,
  ) {
    this.publishers = new Map(published.publishers.map((publisher) => [publisher.category, publisher]));
    this.categories = [...this.publishers.keys()];
    this.types = new Set(published.publishers.flatMap(({ types }) => [...types]));
  }

  async handle(event: RecordedEvent): Promise<void> {
    await this.schedule(event);
  }

  /** Returns the delivery of an event, and makes it if it does not exist. Null when the event needs no delivery. */
  async schedule(event: RecordedEvent): Promise<{ readonly deliveryId: string; readonly made: boolean } | null> {
    const publisher = this.publishers.get(categoryOf(event.stream));
    const { accountId } = event.metadata;
    if (!publisher?.types.has(event.type) || accountId === null) return null;
    const { state } = await this.endpoints.load(endpointRecord, accountId);
    const endpoint = endpointAt(state, event.position);
    if (endpoint === null) return null;
    const history = publisher.alone
      ? [event]
      : await this.store.readStream(event.stream, { limit: event.revision + 1 });
    const published = publisher.publish(history, this.published.links);
    if (published === null || (endpoint.enabledEvents !== null && !endpoint.enabledEvents.includes(published.type)))
      return null;
    return this.make(event, published, endpoint, accountId);
  }

  private async make(
    event: RecordedEvent,
    published: PublishedEvent,
    { endpointId }: Pick<Endpoint, 'endpointId'>,
    accountId: string,
  ): Promise<{ readonly deliveryId: string; readonly made: boolean }> {
    const deliveryId = derivedIdLike(event.id, 'webhook-delivery', endpointId, published.type);
    const { environment, occurredAt, $correlationId } = event.metadata;
    const context: ActionContext = {
      accountId,
      environment,
      actor: { kind: 'system', id: 'webhooks' },
      correlationId: $correlationId,
      causationId: event.id,
      skipReadYourWrites: true,
    };
    const scheduled = {
      endpointId,
      eventId: published.id,
      eventType: published.type,
      occurredAt,
      body: JSON.stringify(published),
      kind: 'event',
      nextAttemptAt: occurredAt,
    } as const;
    const { state, events } = await this.aggregates.execute(
      delivery,
      { id: deliveryId, known: unstored(delivery.initial) },
      { kind: 'schedule', delivery: scheduled },
      context,
    );
    // The recovery job queues a delivery that existed before.
    const made = events.length > 0;
    if (made && state.status !== 'none')
      await this.queue.enqueue(turnOf(deliveryId, state, 'ladder'), new Date(occurredAt));
    return { deliveryId, made };
  }
}
