import type { RecordedEvent } from '../../kernel/domain-event.js';
import {
  EventStore,
  type AppendOutcome,
  type EventBatch,
  type ExpectedRevision,
  type NewEvent,
  type StreamAppend,
  type StreamReadOptions,
  type SubscribeOptions,
  type TogetherOutcome,
} from '../../ports/event-store.js';
import type { Upcasting } from './upcasters.js';

/** An event store as the application sees it: every read passes the upcasters. Audit reads the store beneath. */
export class UpcastingEventStore extends EventStore {
  constructor(
    readonly raw: EventStore,
    private readonly upcasting: Upcasting,
  ) {
    super();
  }

  override append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    return this.raw.append(stream, expected, events);
  }

  override appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome> {
    return this.raw.appendTogether(appends);
  }

  override async readStream(stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]> {
    return this.current(await this.raw.readStream(stream, options));
  }

  override async readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    return this.current(await this.raw.readAll(after, limit));
  }

  override head(): Promise<string | null> {
    return this.raw.head();
  }

  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    for await (const batch of this.raw.subscribe(options)) yield { ...batch, events: this.current(batch.events) };
  }

  override ping(): Promise<void> {
    return this.raw.ping();
  }

  override close(): Promise<void> {
    return this.raw.close();
  }

  private current(events: readonly RecordedEvent[]): RecordedEvent[] {
    return events.map((event) => this.upcasting.apply(event));
  }
}
