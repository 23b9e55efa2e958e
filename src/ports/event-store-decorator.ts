import type { RecordedEvent } from '../kernel/domain-event.js';
import {
  type AppendOutcome,
  type EventBatch,
  EventStore,
  type ExpectedRevision,
  type NewEvent,
  type StreamAppend,
  type StreamReadOptions,
  type SubscribeOptions,
  type TogetherOutcome,
} from './event-store.js';

/** An event store that wraps another event store. Methods that are not overridden call the wrapped store. */
export abstract class EventStoreDecorator extends EventStore {
  constructor(protected readonly store: EventStore) {
    super();
  }

  override append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    return this.store.append(stream, expected, events);
  }

  override appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome> {
    return this.store.appendTogether(appends);
  }

  override readStream(stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]> {
    return this.store.readStream(stream, options);
  }

  override readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    return this.store.readAll(after, limit);
  }

  override head(): Promise<string | null> {
    return this.store.head();
  }

  override subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    return this.store.subscribe(options);
  }

  override ping(): Promise<void> {
    return this.store.ping();
  }

  override close(): Promise<void> {
    return this.store.close();
  }
}
