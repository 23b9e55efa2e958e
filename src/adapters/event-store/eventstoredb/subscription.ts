// One subscription to $all that delivers batches. The subscription turns the server's events and messages into checkpoints that can be saved safely.
import { type AllStreamResolvedEvent, type Filter, START, streamNameFilter } from '@eventstore/db-client';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { type EventBatch, EventStoreUnavailable, type SubscribeOptions } from '../../../ports/event-store.js';
import { storeIsClosed, unavailable } from './attempts.js';
import { Feed, Sign } from './feed.js';
import type { RoleClient } from './guarded-client.js';
import { positionOf, textOf } from './positions.js';
import { isSystemStream, recordedOf } from './recorded.js';

const DEFAULT_BATCH_SIZE = 500;
/** The number of events that the server checks between two checkpoints, matching or not. A checkpoint may be this far behind the head. */
const SEARCH_WINDOW = 256;
/** The number of events that are kept for a busy consumer. Further events wait on the server. */
const READ_AHEAD = 128;
/** Events arrive one by one, so a batch waits for more events. The first time is for past events, and the second for new events. */
const PAST_GATHERING_MS = 5;
const LIVE_GATHERING_MS = 1;
/** After this time, a subscription that got no message about having caught up checks this itself. Servers before 23.10 send no such message. */
const FIRST_LOOK_MS = 1_000;
/** The number of events that are read to find out whether a silent subscription misses an event. */
const LOOK_AHEAD = 500;

export interface SubscriptionSources {
  readonly role: RoleClient;
  readonly closed: AbortSignal;
  /** A subscription that is silent for this time is checked. A subscription is given up if it misses an event for the same time again. */
  readonly silenceMs: number;
  /** The time in which the server must confirm the subscription. */
  readonly confirmMs: number;
  /** The reads use another client than the subscription. */
  readonly readAll: (after: string | null, limit: number) => Promise<RecordedEvent[]>;
  readonly head: () => Promise<string | null>;
}

export async function* subscription(
  options: SubscribeOptions,
  sources: SubscriptionSources,
): AsyncGenerator<EventBatch> {
  if (options.signal.aborted) return;
  if (sources.closed.aborted) throw storeIsClosed();
  const { client } = sources.role;
  const batchSize = options.batchSize ?? DEFAULT_BATCH_SIZE;
  const fromPosition = options.after === null ? START : positionOf(options.after);
  const readable = { highWaterMark: Math.min(batchSize, READ_AHEAD) };
  const feed = new Feed((checkpointReached) =>
    client.subscribeToAll(
      { fromPosition, filter: filterOf(options.categories, checkpointReached), requiresLeader: true },
      readable,
    ),
  );
  const progress = new Progress(options, sources);
  try {
    for (let gatheringSince: number | null = null; ;) {
      if (options.signal.aborted || sources.closed.aborted) return;
      const item = progress.unreadable === null ? feed.take() : null;
      if (item !== null) {
        progress.note(item);
        if (progress.size < batchSize) continue;
      }
      if (progress.unreadable !== null && progress.size === 0) throw progress.unreadable;
      if (progress.isWorthTelling) {
        if (item === null && !feed.ended && feed.failure === null && progress.unreadable === null) {
          gatheringSince ??= performance.now();
          const leftMs = progress.gatheringMs - (performance.now() - gatheringSince);
          if (leftMs > 0 && (await feed.next(leftMs, options.signal, sources.closed)) === 'news') continue;
        }
        gatheringSince = null;
        sources.role.succeeded(client);
        const batch = await progress.tell(feed.isEmpty && progress.unreadable === null);
        if (batch !== null) yield batch;
        continue;
      }
      if (feed.failure !== null) throw unavailable(feed.failure);
      if (feed.ended) return;
      const patienceMs = feed.confirmed ? progress.patienceMs : sources.confirmMs;
      if ((await feed.next(patienceMs, options.signal, sources.closed)) === 'silence') {
        if (!feed.confirmed) throw new EventStoreUnavailable('The event store does not confirm the subscription.');
        await progress.look();
      }
    }
  } catch (error) {
    sources.role.failed(client, feed.failure ?? error);
    throw error;
  } finally {
    feed.close();
  }
}

function filterOf(
  categories: readonly string[] | undefined,
  checkpointReached: NonNullable<Filter['checkpointReached']>,
): Filter {
  const options = { checkpointInterval: 1, maxSearchWindow: SEARCH_WINDOW, checkpointReached };
  // The names of the server's own streams begin with a dollar sign.
  if (categories === undefined) return streamNameFilter({ ...options, regex: '^[^$]' });
  return streamNameFilter({ ...options, prefixes: categories.map((category) => `${category}-`) });
}

/** The part of the log that the subscription has passed, and whether the subscription has caught up. */
class Progress {
  readonly #options: SubscribeOptions;
  readonly #sources: SubscriptionSources;
  #events: RecordedEvent[] = [];
  #through: string | null;
  #checkpoint: string | null = null;
  #knownHead: string | null = null;
  #live = false;
  #toldLive = false;
  /** An event that the subscription should have delivered. */
  #missing: string | null = null;
  #unreadable: Error | null = null;

  constructor(options: SubscribeOptions, sources: SubscriptionSources) {
    this.#options = options;
    this.#sources = sources;
    this.#through = options.after;
  }

  get size(): number {
    return this.#events.length;
  }

  /** The reason why the next event cannot be delivered. Earlier events can still be delivered. */
  get unreadable(): Error | null {
    return this.#unreadable;
  }

  get isWorthTelling(): boolean {
    return this.#events.length > 0 || (this.#live && !this.#toldLive) || isBeyond(this.#checkpoint, this.#through);
  }

  get gatheringMs(): number {
    return this.#live ? LIVE_GATHERING_MS : PAST_GATHERING_MS;
  }

  get patienceMs(): number {
    return this.#live || this.#missing !== null
      ? this.#sources.silenceMs
      : Math.min(FIRST_LOOK_MS, this.#sources.silenceMs);
  }

  note(item: AllStreamResolvedEvent | Sign): void {
    this.#missing = null;
    if (item instanceof Sign) {
      if (item.position !== undefined) this.#checkpoint = textOf(item.position);
      if (item.says === 'caught-up') this.#live = true;
      if (item.says === 'fell-behind') this.#live = false;
      return;
    }
    if (isSystemStream(item.event?.streamId ?? '')) return;
    try {
      this.#events.push(recordedOf(item));
    } catch (error) {
      this.#unreadable = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Null if nothing has changed since the last batch. */
  async tell(nothingWaits: boolean): Promise<EventBatch | null> {
    const [events, before, toldBefore] = [this.#events, this.#through, this.#toldLive];
    this.#events = [];
    const last = events.at(-1)?.position ?? null;
    if (isBeyond(last, this.#through)) this.#through = last;
    await this.#passCheckpoint();
    this.#toldLive = this.#live && nothingWaits;
    if (events.length === 0 && this.#through === before && this.#toldLive === toldBefore) return null;
    return { events, through: this.#through, caughtUp: this.#toldLive };
  }

  /**
   * A checkpoint may be the end of the log, where no event is written yet. If it were saved, it would seem to be beyond the head, as if the log had
   * lost events. Therefore a checkpoint is used only up to the head.
   */
  async #passCheckpoint(): Promise<void> {
    const checkpoint = this.#checkpoint;
    this.#checkpoint = null;
    if (checkpoint === null || !isBeyond(checkpoint, this.#through)) return;
    if (isBeyond(checkpoint, this.#knownHead)) this.#knownHead = await this.#sources.head();
    const passed = isBeyond(checkpoint, this.#knownHead) ? this.#knownHead : checkpoint;
    if (isBeyond(passed, this.#through)) this.#through = passed;
  }

  /** Checks after a silence whether an event should have been delivered. */
  async look(): Promise<void> {
    if (this.#missing !== null) throw new EventStoreUnavailable('The subscription is silent while the log goes on.');
    const head = await this.#sources.head();
    const page = await this.#sources.readAll(this.#through, LOOK_AHEAD);
    const missing = page.find(({ stream }) => this.#wants(stream));
    if (missing !== undefined) {
      this.#missing = missing.position;
      return;
    }
    // The server may have written events of its own after the last event of the service.
    if (page.length < LOOK_AHEAD) this.#live = true;
    this.#checkpoint = page.length < LOOK_AHEAD ? head : (page.at(-1)?.position ?? null);
  }

  #wants(stream: string): boolean {
    const { categories } = this.#options;
    return categories === undefined || categories.some((category) => stream.startsWith(`${category}-`));
  }
}

function isBeyond(position: string | null, other: string | null): position is string {
  return position !== null && (other === null || position > other);
}
