import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { EventBatch, EventStore, StreamReadOptions, SubscribeOptions } from '../../ports/event-store.js';
import { EventStoreDecorator } from '../../ports/event-store-decorator.js';
import type { Upcasting } from './upcasters.js';

/** The event store that the application uses: every read passes through the upcasters. The audit reads the store below. */
export class UpcastingEventStore extends EventStoreDecorator {
  constructor(
    readonly raw: EventStore,
    private readonly upcasting: Upcasting,
  ) {
    super(raw);
  }

  override async readStream(stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]> {
    return this.current(await this.store.readStream(stream, options));
  }

  override async readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    return this.current(await this.store.readAll(after, limit));
  }

  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    for await (const batch of this.store.subscribe(options)) yield { ...batch, events: this.current(batch.events) };
  }

  private current(events: readonly RecordedEvent[]): RecordedEvent[] {
    return events.map((event) => this.upcasting.apply(event));
  }
}
