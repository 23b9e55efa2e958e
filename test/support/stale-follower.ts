// A cluster of two nodes over one embedded log. While `behind` is set, a follower answers reads of streams and new subscriptions. The
// follower's copy of the log ends at the position `behind`.
import { type EventBatch, type StreamReadOptions, type SubscribeOptions } from '../../src/ports/event-store.js';
import { EventStoreDecorator } from '../../src/ports/event-store-decorator.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { until } from './eventually.js';

export class StaleFollower extends EventStoreDecorator {
  /** The position of the last event that the follower has. */
  behind: string | null = null;

  override async readStream(stream: string, options: StreamReadOptions = {}): Promise<RecordedEvent[]> {
    const { behind } = this;
    if (behind === null) return this.store.readStream(stream, options);
    const { from, limit = Infinity, direction = 'forwards' } = options;
    const events = (await this.store.readStream(stream)).filter(({ position }) => position <= behind);
    if (direction === 'forwards') return events.slice(from ?? 0).slice(0, limit);
    return events
      .slice(0, from === undefined ? undefined : from + 1)
      .reverse()
      .slice(0, limit);
  }

  override async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, undefined> {
    const { behind } = this;
    for await (const { events, ...batch } of this.store.subscribe(options)) {
      if (behind !== null && this.behind !== null && (batch.through ?? '') > behind) {
        const copied = events.filter(({ position }) => position <= behind);
        const through = behind > (options.after ?? '') ? behind : options.after;
        yield { events: copied, through, caughtUp: true };
        await until('the follower has caught up', () => this.behind === null || options.signal.aborted);
        yield { ...batch, events: events.filter(({ position }) => position > behind) };
      } else yield { ...batch, events };
    }
  }
}
