// One reading of the live log for all subscriptions of a process: each event is read, parsed and upcast once.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { categoryOf, type RecordedEvent } from '../../kernel/domain-event.js';
import {
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
  type StreamReadOptions,
  type SubscribeOptions,
} from '../../ports/event-store.js';
import { EventStoreDecorator } from '../../ports/event-store-decorator.js';

/**
 * The number of events that the tail keeps for slower subscriptions. A subscription that falls further behind reads the log itself until it catches
 * up.
 */
const KEPT_EVENTS = 2_000;
/** At the end of the log, events that were appended within this time, in milliseconds, are passed on together. */
const GATHER_MS = 10;
/** A subscription without new events learns the position of the log after this time, in milliseconds. */
const PASSED_AFTER_MS = 200;
const DEFAULT_BATCH_SIZE = 500;
/** The number of streams whose newest read revision is remembered. */
const KNOWN_STREAMS = 10_000;

/**
 * The event store with subscriptions that share their reading. A subscription that is behind reads the log itself. At the end of the log it joins the
 * tail, which is read once for all subscriptions. A read of a stream fails when it lacks an event that this process has read from the log. Otherwise
 * an event could be handled as if it had not happened.
 */
export class SharedLogReader extends EventStoreDecorator {
  private tail: Tail | null = null;
  private nextHead: Promise<string | null> | null = null;
  private readonly revisions = new LRUCache<string, number>({ max: KNOWN_STREAMS });

  /** The head is read once for all callers in one turn of the event loop, after their calls. Every subscription needs the head in each round. */
  override head(): Promise<string | null> {
    this.nextHead ??= nextTurn().then(() => {
      this.nextHead = null;
      return this.store.head();
    });
    return this.nextHead;
  }

  override async readStream(stream: string, options: StreamReadOptions = {}): Promise<RecordedEvent[]> {
    const known = this.revisions.get(stream) ?? -1;
    const found = await this.store.readStream(stream, options);
    const { from, limit, direction } = options;
    const newest = direction === 'backwards' ? found[0] : found.at(-1);
    const isWhole = direction === 'backwards' ? from === undefined : found.length !== limit;
    if (isWhole && limit !== 0 && (newest?.revision ?? (from ?? 0) - 1) < known)
      throw new EventStoreUnavailable(`Stream ${stream} was read without its revision ${known}`);
    return found;
  }

  override async readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    const events = await this.store.readAll(after, limit);
    this.note(events);
    return events;
  }

  override async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, undefined> {
    const { signal } = options;
    let place = options.after ?? '';
    while (!signal.aborted) {
      if (this.tail === null || place > this.tail.through || !this.tail.holds(place)) {
        let caughtUp = false;
        for await (const batch of this.read({ ...options, after: place || null })) {
          yield batch;
          place = batch.through ?? '';
          // A tail that another subscription began may be further ahead, because another node answered it.
          caughtUp = batch.caughtUp && this.joins(place);
          if (caughtUp) break;
        }
        if (!caughtUp || signal.aborted) return;
        if (!this.joins(place)) continue;
      }
      const tail = this.tailFrom(place);
      const leave = tail.join();
      try {
        for await (const batch of tail.after(place, options)) {
          place = batch.through ?? '';
          yield batch;
        }
      } finally {
        leave();
      }
    }
  }

  /** Whether the tail has everything after the position, or would begin there. */
  private joins(place: string): boolean {
    return this.tail === null || this.tail.isOver || this.tail.holds(place);
  }

  private tailFrom(place: string): Tail {
    if (this.tail === null || this.tail.isOver) this.tail = new Tail((options) => this.read(options), place);
    return this.tail;
  }

  private async *read(options: SubscribeOptions): AsyncGenerator<EventBatch, void, undefined> {
    for await (const batch of this.store.subscribe(options)) {
      this.note(batch.events);
      yield batch;
    }
  }

  private note(events: readonly RecordedEvent[]): void {
    for (const { stream, revision } of events)
      if (revision > (this.revisions.get(stream) ?? -1)) this.revisions.set(stream, revision);
  }
}

/** One batch of events and their categories. */
interface KeptBatch extends EventBatch {
  readonly categories: ReadonlySet<string>;
}

interface Follower {
  readonly wanted: ReadonlySet<string> | null;
  wake(): void;
}

/** The end of the log, which is read while it has followers. When the reading breaks, it ends for all followers. */
class Tail {
  isOver = false;
  through: string;
  private from: string;
  private batches: KeptBatch[] = [];
  /** The number of the first batch that is kept. */
  private first = 0;
  private kept = 0;
  private atEnd = false;
  private error: unknown = null;
  private followers = 0;
  private readonly stopping = new AbortController();
  private readonly waiting = new Set<Follower>();
  private passing: NodeJS.Timeout | undefined;

  constructor(
    private readonly subscribe: EventStore['subscribe'],
    from: string,
  ) {
    this.from = from;
    this.through = from;
    void this.read();
  }

  /** Whether everything after a position is kept, or will still be read. */
  holds(place: string): boolean {
    return !this.isOver && place >= this.from;
  }

  /** The follower calls the returned function when it leaves. */
  join(): () => void {
    this.followers += 1;
    return () => {
      this.followers -= 1;
      if (this.followers === 0) this.end(null);
    };
  }

  /** Ends without an error on abort, and when the follower is so slow that its next batch was dropped. */
  async *after(
    place: string,
    { categories, batchSize = DEFAULT_BATCH_SIZE, signal }: SubscribeOptions,
  ): AsyncGenerator<EventBatch, void, undefined> {
    const wanted = categories === undefined ? null : new Set(categories);
    let next = this.first + this.batches.findIndex(({ through }) => (through ?? '') > place);
    if (next < this.first) next = this.first + this.batches.length;
    // A follower ahead of the tail has reached the end.
    let toldOfEnd = place > this.through;
    while (!signal.aborted && next >= this.first) {
      const batch = this.batches[next - this.first];
      if (batch !== undefined) {
        next += 1;
        const concerned = concerns(wanted, batch);
        // The newest batch has the position, so an earlier batch without wanted events is skipped.
        if (!concerned && next < this.first + this.batches.length) continue;
        toldOfEnd = batch.caughtUp;
        const events = concerned
          ? batch.events.filter(
              ({ position, stream }) => position > place && (wanted === null || wanted.has(categoryOf(stream))),
            )
          : [];
        for (let start = 0; start + batchSize < events.length; start += batchSize) {
          const part = events.slice(start, start + batchSize);
          yield { events: part, through: part.at(-1)?.position ?? null, caughtUp: false };
        }
        const rest = events.length === 0 ? 0 : Math.floor((events.length - 1) / batchSize) * batchSize;
        yield { ...batch, events: events.slice(rest) };
      } else if (this.isOver) {
        throw this.error;
      } else if (this.atEnd && !toldOfEnd) {
        toldOfEnd = true;
        yield { events: [], through: this.through || null, caughtUp: true };
      } else {
        await this.more(wanted, signal);
      }
    }
  }

  private async read(): Promise<void> {
    const { signal } = this.stopping;
    try {
      for await (const batch of this.subscribe({ after: this.from || null, signal })) {
        this.keep(batch);
        if (batch.caughtUp) await pause(GATHER_MS, undefined, { signal });
      }
      this.end(new EventStoreUnavailable('The log ended by itself'));
    } catch (error) {
      this.end(error);
    }
  }

  private keep(batch: EventBatch): void {
    const kept = { ...batch, categories: new Set(batch.events.map(({ stream }) => categoryOf(stream))) };
    this.batches.push(kept);
    this.kept += batch.events.length;
    this.through = batch.through ?? '';
    const reachedEnd = batch.caughtUp && !this.atEnd;
    this.atEnd = batch.caughtUp;
    while (this.batches.length > 1 && this.kept > KEPT_EVENTS) {
      const dropped = this.batches.shift();
      this.first += 1;
      this.kept -= dropped?.events.length ?? 0;
      this.from = dropped?.through ?? '';
    }
    this.wake(reachedEnd ? null : kept);
  }

  end(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.error = error;
    this.stopping.abort();
    this.wake(null);
  }

  /** Wakes the followers that need the batch, and all others together some time later. Without a batch, it wakes all followers at once. */
  private wake(batch: KeptBatch | null): void {
    for (const follower of this.waiting) if (batch === null || concerns(follower.wanted, batch)) follower.wake();
    if (batch === null) {
      clearTimeout(this.passing);
      this.passing = undefined;
    } else if (this.waiting.size > 0) {
      this.passing ??= setTimeout(() => this.wake(null), PASSED_AFTER_MS).unref();
    }
  }

  private more(wanted: ReadonlySet<string> | null, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.waiting.delete(follower);
        resolve();
      };
      const follower: Follower = { wanted, wake };
      signal.addEventListener('abort', wake);
      this.waiting.add(follower);
    });
  }
}

function concerns(wanted: ReadonlySet<string> | null, { categories }: KeptBatch): boolean {
  if (wanted === null) return categories.size > 0;
  for (const category of categories) if (wanted.has(category)) return true;
  return false;
}
