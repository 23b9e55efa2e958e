// Pages of feeds, waits for their next event, and the count of missed events (docs/contract/server.md#the-event-feed).
import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import type { DeliveryReader } from '../../../src/modules/webhooks/read/deliveries.js';
import type { EndpointView } from '../../../src/modules/webhooks/read/endpoints.js';
import { FeedReader, type FeedPage } from '../../../src/modules/webhooks/read/feed.js';
import { MissedEventsReader } from '../../../src/modules/webhooks/read/missed-events.js';
import type { EventBatch, EventStore, StreamReadOptions, SubscribeOptions } from '../../../src/ports/event-store.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { until } from '../../support/eventually.js';
import { iso, positionAt } from './histories.js';

const OWNER = { accountId: 'account', environment: 'test' } as const;
const RARE = 'payment.refunded';

/** A log of feeds. Each feed has as many events as the log. */
class Feeds {
  length = 0;
  reads = 0;
  subscriptions = 0;
  private readonly followers = new Set<(batch: EventBatch) => void>();

  constructor(
    length: number,
    /** The sequences of the rare events. */
    private readonly rare: readonly number[] = [],
  ) {
    this.length = length;
  }

  private event(stream: string, revision: number): RecordedEvent {
    const type = this.rare.includes(revision + 1) ? RARE : 'report.shared';
    return {
      id: `id-${revision}`,
      stream,
      revision,
      position: positionAt(revision + 1),
      type: 'EventPublished',
      data: { eventId: `evt_${revision}`, type, schemaVersion: 1, occurredAt: iso(revision), data: {}, digest: 'd' },
      metadata: { ...OWNER },
    } as unknown as RecordedEvent;
  }

  head = async (): Promise<string | null> => positionAt(this.length);

  readStream = async (stream: string, { from = 0, limit = Infinity, direction }: StreamReadOptions = {}) => {
    this.reads += 1;
    if (direction === 'backwards') return this.length === 0 ? [] : [this.event(stream, this.length - 1)];
    const count = Math.max(0, Math.min(limit, this.length - from));
    return Array.from({ length: count }, (_, place) => this.event(stream, from + place));
  };

  async *subscribe({ signal }: SubscribeOptions): AsyncGenerator<EventBatch> {
    this.subscriptions += 1;
    const batches: EventBatch[] = [];
    let wake = (): void => undefined;
    const follower = (batch: EventBatch): void => {
      batches.push(batch);
      wake();
    };
    this.followers.add(follower);
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      const batch = batches.shift();
      if (batch) yield batch;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    this.followers.delete(follower);
    this.subscriptions -= 1;
  }

  /** Appends an event. Only this feed is told of it. */
  happens(stream = 'feed-account-test'): void {
    this.length += 1;
    const batch = { events: [this.event(stream, this.length - 1)], through: positionAt(this.length), caughtUp: true };
    for (const follower of this.followers) follower(batch);
  }

  reader(): FeedReader {
    return new FeedReader(this as unknown as EventStore);
  }
}

describe('a page of some types', () => {
  it('looks at 10,000 entries at most, says where the next page begins, and that page goes on', async () => {
    const feeds = new Feeds(25_000, [3, 24_000]);
    const read = (after: number, limit = 10): Promise<FeedPage> =>
      feeds.reader().page(OWNER, { after, limit, types: [RARE] });
    const shown = ({ entries, hasMore, through }: FeedPage): unknown[] => [
      entries.map(({ sequence }) => sequence),
      hasMore,
      through,
    ];
    expect(shown(await read(0))).toEqual([[3], true, 10_000]);
    expect(shown(await read(10_000))).toEqual([[], true, 20_000]);
    expect(shown(await read(20_000))).toEqual([[24_000], false, 25_000]);
    feeds.reads = 0;
    await read(0);
    // One read of the head, and twenty of 500 entries.
    expect(feeds.reads).toBe(21);
  });

  it('ends at its last entry when more of the types follow', async () => {
    const page = await new Feeds(100, [3, 5, 8]).reader().page(OWNER, { after: 0, limit: 2, types: [RARE] });
    expect([page.entries.map(({ sequence }) => sequence), page.hasMore, page.through]).toEqual([[3, 5], true, 5]);
  });
});

describe('missed events', () => {
  const missed = (feeds: Feeds, enabledEvents: readonly string[] | null, taken: number) =>
    new MissedEventsReader(feeds.reader(), {
      newestTaken: async () => ({ place: { sequence: taken, digest: 'd' } }),
    } as unknown as DeliveryReader).of(
      { endpointId: 'endpoint', enabledEvents, createdAt: iso(0) } as EndpointView,
      OWNER,
    );

  it('are counted exactly when the endpoint gets all types, or the feed has few events', async () => {
    expect(await missed(new Feeds(25_000), null, 100)).toEqual({ events: 24_900, from: 101, more: false });
    expect(await missed(new Feeds(5_000, [50, 200, 300]), [RARE], 100)).toEqual({ events: 2, from: 200, more: false });
    expect(await missed(new Feeds(5_000, [50]), [RARE], 100)).toEqual({ events: 0, from: null, more: false });
  });

  it('are said to be more when the feed has more events than are looked at, and begin after those when none was found', async () => {
    expect(await missed(new Feeds(25_000, [200, 20_000]), [RARE], 100)).toEqual({ events: 1, from: 200, more: true });
    expect(await missed(new Feeds(25_000, [20_000]), [RARE], 100)).toEqual({ events: 0, from: 10_101, more: true });
  });
});

describe('a wait for the next event', () => {
  const waits = (
    reader: FeedReader,
    after: number,
    { readerId = 'account', accountId = 'account', signal = new AbortController().signal, waitMs = 60_000 } = {},
  ): Promise<FeedPage> =>
    reader.pageWithin(
      { accountId, environment: 'test' },
      { after, limit: 10, types: null },
      { readerId, waitMs, signal },
    );
  const sequences = ({ entries }: FeedPage): number[] => entries.map(({ sequence }) => sequence);

  it('shares one subscription with all other waits, which ends with the last of them', async () => {
    const feeds = new Feeds(3);
    const reader = feeds.reader();
    const [left, stays] = [new AbortController(), new AbortController()];
    const waiting = [
      waits(reader, 3),
      waits(reader, 3),
      waits(reader, 3, { accountId: 'other', signal: left.signal }),
      waits(reader, 4, { signal: stays.signal }),
    ];
    await until('they follow the log', () => feeds.subscriptions === 1);
    feeds.happens();
    expect((await Promise.all(waiting.slice(0, 2))).map(sequences)).toEqual([[4], [4]]);
    expect(feeds.subscriptions).toBe(1);
    left.abort();
    stays.abort();
    expect((await Promise.all(waiting.slice(2))).map(({ entries }) => entries)).toEqual([[], []]);
    await until('nothing follows the log', () => feeds.subscriptions === 0);
    const again = waits(reader, 4);
    await until('it follows the log', () => feeds.subscriptions === 1);
    feeds.happens();
    expect(sequences(await again)).toEqual([5]);
    reader.onModuleDestroy();
  });

  it('ends after its time when garbage was collected meanwhile', async () => {
    const feeds = new Feeds(3);
    const waiting = waits(feeds.reader(), 3, { waitMs: 200 });
    await until('it follows the log', () => feeds.subscriptions === 1);
    collectGarbage();
    expect(sequences(await waiting)).toEqual([]);
  });

  it('sees an event that is stored while it begins', async () => {
    const feeds = new Feeds(3);
    const head = feeds.head;
    feeds.head = async () => {
      const place = await head();
      feeds.length += 1;
      return place;
    };
    expect(sequences(await waits(feeds.reader(), 3))).toEqual([4]);
  });

  it('is an empty page at once for the 101st of one account, whatever feeds it reads, and for the 1,001st of all', async () => {
    const feeds = new Feeds(3);
    const reader = feeds.reader();
    const leave = new AbortController();
    const { signal } = leave;
    const waiting = Array.from({ length: 100 }, (_, child) =>
      waits(reader, 3, { accountId: `child-${child}`, signal }),
    );
    await until('they follow the log', () => feeds.subscriptions === 1);
    expect(sequences(await waits(reader, 3))).toEqual([]);
    for (let other = 0; other < 900; other++) waiting.push(waits(reader, 3, { readerId: `r-${other % 9}`, signal }));
    // Each wait has read the head twice, and the refused one once.
    await until('all wait', () => feeds.reads === 2_001);
    expect(sequences(await waits(reader, 3, { readerId: 'last' }))).toEqual([]);
    leave.abort();
    await Promise.all(waiting);
    await until('nothing follows the log', () => feeds.subscriptions === 0);
  });

  it('goes on when the subscription breaks', async () => {
    const feeds = new Feeds(3);
    const subscribe = feeds.subscribe.bind(feeds);
    let broken = 0;
    feeds.subscribe = async function* (options) {
      broken += 1;
      if (broken === 1) throw new Error('the log is away');
      yield* subscribe(options);
    };
    const waiting = waits(feeds.reader(), 3);
    await until('it follows the log again', () => feeds.subscriptions === 1);
    feeds.happens();
    expect([sequences(await waiting), broken]).toEqual([[4], 2]);
  });
});
