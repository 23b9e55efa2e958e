// The log of a process that may look and must append nothing.
import { DomainError } from '../../kernel/domain-error.js';
import {
  type AppendOutcome,
  type EventBatch,
  EventStore,
  type StreamReadOptions,
  type SubscribeOptions,
  type TogetherOutcome,
} from '../../ports/event-store.js';
import type { RecordedEvent } from '../../kernel/domain-event.js';

export class ReadOnlyEventStore extends EventStore {
  constructor(private readonly store: EventStore) {
    super();
  }

  override async append(): Promise<AppendOutcome> {
    throw new DomainError('service.read_only');
  }

  override async appendTogether(): Promise<TogetherOutcome> {
    throw new DomainError('service.read_only');
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
