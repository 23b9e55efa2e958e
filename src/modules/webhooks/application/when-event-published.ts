import { Injectable } from '@nestjs/common';
import { machineTimeOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { together } from '../../../kernel/together.js';
import { AggregateStore, unstored } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { EventStore } from '../../../ports/event-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { isDelivered } from '../../../published/events.js';
import { delivery, deliveryIdOf } from '../domain/delivery.js';
import { isHeldBack } from '../domain/endpoint.js';
import { endpointAt, endpointRecord } from '../domain/endpoint-record.js';
import { feed, type FeedEvent } from '../domain/feed.js';
import { deliveryOf } from './feed-delivery.js';
import { positionOfSource } from './position-of-source.js';
import { turnOf } from './turns.js';

export const DELIVERIES = 'webhook_deliveries';
const DELIVERIES_TOGETHER = 64;

/**
 * Turns the events of the feeds into deliveries. The delivery's id follows from the stored event and the endpoint. So an event that is
 * handled again after a crash or a lost checkpoint is not sent again. The state of the endpoint at the place of the stored event decides. So
 * events from before the endpoint existed are never sent unasked (docs/contract/webhooks.md#events).
 */
@Injectable()
export class WhenEventPublished implements EventHandler {
  readonly name = DELIVERIES;
  readonly categories = [feed.category];
  readonly types: ReadonlySet<string> = new Set<FeedEvent['type']>(['EventPublished']);
  readonly together = true;

  constructor(
    private readonly store: EventStore,
    private readonly aggregates: AggregateStore,
    private readonly endpoints: GroupedStream,
    private readonly queue: DeliveryQueue,
  ) {}

  async handle(...events: readonly RecordedEvent[]): Promise<void> {
    await together(
      events.filter((event) => this.isDue(event)),
      DELIVERIES_TOGETHER,
      (event) => this.schedule(event, 'unasked'),
    );
  }

  /** Whether the event may make a delivery unasked. */
  isDue(event: RecordedEvent): boolean {
    return this.types.has(event.type) && (event as RecordedEvent<FeedEvent>).data.past === undefined;
  }

  /**
   * Gives the delivery of an event of a feed, and makes it when it does not exist. Null when the event needs no delivery. An unasked delivery also waits
   * for the end of a resume, which then makes it.
   */
  async schedule(
    recorded: RecordedEvent,
    as: 'unasked' | 'asked',
  ): Promise<{ readonly deliveryId: string; readonly made: boolean } | null> {
    const published = recorded as RecordedEvent<FeedEvent>;
    const { accountId, $causationId } = published.metadata;
    if (accountId === null) return null;
    const { state } = await this.endpoints.load(endpointRecord, accountId);
    if (state.current === null || (as === 'unasked' && isHeldBack(state.current, published))) return null;
    const source = await positionOfSource(published.data, published.position, this.store);
    const endpoint = endpointAt(state, published, source);
    const { type, occurredAt } = published.data;
    if (endpoint === null || !isDelivered(type, endpoint.enabledEvents)) return null;
    const deliveryId = deliveryIdOf($causationId, endpoint.endpointId, type);
    const { command, context } = deliveryOf(published, endpoint.endpointId, occurredAt);
    const { state: stored, events } = await this.aggregates.execute(
      delivery,
      { id: deliveryId, known: unstored(delivery.initial) },
      command,
      context,
    );
    // The recovery job queues a delivery that existed before.
    if (events.length > 0 && stored.status !== 'none')
      await this.queue.enqueue(turnOf(deliveryId, stored, 'ladder'), firstAttempt(published));
    return { deliveryId, made: events.length > 0 };
  }
}

/** The machine's time of the change, or of its publication if the change has the time of a test clock. */
function firstAttempt({ data, metadata }: RecordedEvent<FeedEvent>): Date {
  return new Date(Math.min(Date.parse(data.occurredAt), Date.parse(machineTimeOf(metadata))));
}
