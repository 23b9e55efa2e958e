// The event feeds on each event store, while publishers race, fail and begin again. No event is in a feed twice, none is missing, and none is out
// of the order of the log.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { EventStoreDbEventStore } from '../../src/adapters/event-store/eventstoredb.js';
import type { Decider } from '../../src/kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../src/kernel/domain-event.js';
import type { Environment } from '../../src/kernel/environment.js';
import { newId } from '../../src/kernel/ids.js';
import { WhenEventStored } from '../../src/modules/webhooks/application/when-event-stored.js';
import {
  bodyOf,
  digestAfter,
  entryOf,
  feed,
  type FeedEvent,
  NO_DIGEST,
} from '../../src/modules/webhooks/domain/feed.js';
import { AggregateStore } from '../../src/platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../src/platform/aggregates/grouped-stream.js';
import { copyLog } from '../../src/platform/audit/copy-log.js';
import { type EventStore, EventStoreUnavailable } from '../../src/ports/event-store.js';
import { EventStoreDecorator } from '../../src/ports/event-store-decorator.js';
import { HandlerCheckpoints } from '../../src/ports/handler-checkpoints.js';
import { publishedAs, type Publisher } from '../../src/published/events.js';
import { SetClock } from '../support/clock.js';
import { EventStoreDbDouble } from '../support/eventstoredb-double/server.js';

const ENVIRONMENTS: readonly Environment[] = ['live', 'test'];
const clock = new SetClock();
const quiet = { appendConflict: () => undefined };

const note: Decider<null, boolean, DomainEvent<'Noted' | 'Kept', { readonly told: boolean }>> = {
  category: 'note',
  initial: null,
  decide: (told) => [{ type: told ? 'Noted' : 'Kept', data: { told } }],
  evolve: () => null,
};
/** `Kept` is not published, although its type is one of the publisher's. */
const publisher: Publisher = {
  category: 'note',
  types: new Set(['Noted', 'Kept']),
  publish: (history) => {
    const event = history.at(-1);
    if (event?.type !== 'Noted') return null;
    const at = event.metadata.occurredAt;
    const data = { report_id: event.stream, session_id: 's', recipient_account_id: 'a', shared_at: at };
    return publishedAs(event, 'report.shared', data);
  },
};

/** Its events concern both environments. */
const ofBoth: Publisher = { ...publisher, everyEnvironment: true };

/** `watch` runs before and after each append. */
class Watched extends EventStoreDecorator {
  readonly reads: string[] = [];

  constructor(
    store: EventStore,
    private readonly watch: () => void = () => undefined,
  ) {
    super(store);
  }

  override async append(...args: Parameters<EventStore['append']>): ReturnType<EventStore['append']> {
    this.watch();
    const outcome = await super.append(...args);
    this.watch();
    return outcome;
  }

  override readStream(...args: Parameters<EventStore['readStream']>): Promise<RecordedEvent[]> {
    this.reads.push(args[0]);
    return super.readStream(...args);
  }
}

/** The handlers' places, as a Redis without any has them. */
class Places extends HandlerCheckpoints {
  readonly places = new Map<string, string>();
  override take = async (): Promise<boolean> => true;
  override async save(handler: string, _holder: string, place: string): Promise<boolean> {
    this.places.set(handler, place);
    return true;
  }
  override passed = async (handler: string): Promise<string | null> => this.places.get(handler) ?? null;
  override async forget(handler: string): Promise<void> {
    this.places.delete(handler);
  }
  override release = async (): Promise<void> => undefined;
}

/** The publisher of one process. */
function publisherOn(store: EventStore, fault?: () => void, places = new Places(), of = publisher): WhenEventStored {
  const watched = new Watched(store, fault);
  const published = { publishers: [of], links: { reportUrl: null, incomeReportUrl: null } };
  return new WhenEventStored(published, store, new GroupedStream(watched, clock, quiet), places);
}

/** Appends this number of events of the accounts in both environments. */
async function happens(store: EventStore, accounts: readonly string[], count: number): Promise<void> {
  const aggregates = new AggregateStore(store, { applyNow: async () => undefined }, clock, quiet);
  for (let number = 0; number < count; number++) {
    await aggregates.execute(note, newId(), number % 5 !== 4, {
      accountId: accounts[number % accounts.length] as string,
      environment: ENVIRONMENTS[number % 3 === 0 ? 0 : 1] as Environment,
      actor: { kind: 'system', id: 'test' },
      correlationId: `request-${number}`,
      causationId: `request-${number}`,
    });
    clock.pass(1);
  }
}

async function logOf(store: EventStore): Promise<RecordedEvent[]> {
  const all: RecordedEvent[] = [];
  for (;;) {
    const page = await store.readAll(all.at(-1)?.position ?? null, 1_000);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Handles the log from its beginning, in batches of this size, until nothing fails. */
async function follows(store: EventStore, handler: WhenEventStored, size: number): Promise<void> {
  const events = (await logOf(store)).filter(({ type }) => handler.types.has(type));
  for (let place = 0; place < events.length;) {
    try {
      await handler.handle(...events.slice(place, place + size));
      place += size;
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      // It begins again at a saved place, as a new process does.
      place = Math.max(0, place - 2 * size);
    }
  }
}

/** Expects that each feed has exactly the published events of its account and environment, in the order of the log, chained. */
async function expectWhole(store: EventStore, accounts: readonly string[]): Promise<void> {
  const log = await logOf(store);
  for (const accountId of accounts) {
    for (const environment of ENVIRONMENTS) {
      const expected = log.filter(
        ({ type, metadata }) =>
          type === 'Noted' && metadata.accountId === accountId && metadata.environment === environment,
      );
      const stored = (await store.readStream(`feed-${accountId}-${environment}`)) as RecordedEvent<FeedEvent>[];
      expect(stored.map(({ metadata }) => metadata.$causationId)).toEqual(expected.map(({ id }) => id));
      expect(stored.map(({ metadata }) => metadata.$correlationId)).toEqual(
        expected.map(({ metadata }) => metadata.$correlationId),
      );
      const entries = stored.map(entryOf);
      expect(entries.map(({ sequence }) => sequence)).toEqual(expected.map((_, place) => place + 1));
      let digest = NO_DIGEST;
      for (const entry of entries) expect(entry.digest).toBe((digest = digestAfter(digest, bodyOf(entry.event))));
    }
  }
}

let folder: string;
let double: EventStoreDbDouble;
let embedded: EmbeddedEventStore;
let eventStoreDb: EventStoreDbEventStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feeds-'));
  double = await EventStoreDbDouble.start();
  embedded = EmbeddedEventStore.open({ directory: join(folder, 'events') });
  eventStoreDb = EventStoreDbEventStore.connect({ connectionString: double.connectionString });
});
afterAll(async () => {
  await embedded.close();
  await eventStoreDb.close();
  await double.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each<[string, () => EventStore]>([
  ['the embedded log', () => embedded],
  ['EventStoreDB', () => eventStoreDb],
])('the feeds on %s', (_name, store) => {
  it('have an event that concerns both environments once each, in the order of the log', async () => {
    const accountId = newId();
    await happens(store(), [accountId], 20);
    await Promise.all(
      [3, 100].map((size) => follows(store(), publisherOn(store(), undefined, undefined, ofBoth), size)),
    );
    const expected = (await logOf(store()))
      .filter(({ type, metadata }) => type === 'Noted' && metadata.accountId === accountId)
      .map(({ id }) => id);
    for (const environment of ENVIRONMENTS) {
      const feed = (await store().readStream(`feed-${accountId}-${environment}`)) as RecordedEvent<FeedEvent>[];
      expect(feed.map(({ metadata }) => metadata.$causationId)).toEqual(expected);
      expect(new Set(feed.map((event) => entryOf(event).event.environment))).toEqual(new Set([environment]));
    }
  });

  it('have every event once and in order when publishers race, fail before or after an append, and begin again', async () => {
    const accounts = [newId(), newId()];
    await happens(store(), accounts, 60);
    let appends = 0;
    // Every third time a publisher does not learn what became of its append, as when its process was killed.
    const fault = (): void => {
      appends += 1;
      if (appends % 3 === 0 && appends < 60) throw new EventStoreUnavailable('away');
    };
    await Promise.all([7, 10, 25].map((size) => follows(store(), publisherOn(store(), fault), size)));
    await expectWhole(store(), accounts);
    await happens(store(), accounts, 20);
    await Promise.all([3, 100].map((size) => follows(store(), publisherOn(store()), size)));
    await expectWhole(store(), accounts);
  });

  it('get no later event of a batch when one cannot be stored, and all of them at the next try', async () => {
    const accounts = [newId()];
    await happens(store(), accounts, 8);
    const failing = publisherOn(store());
    const broken = jest
      .spyOn(feed, 'decide')
      .mockImplementationOnce(feed.decide.bind(feed))
      .mockImplementationOnce(() => {
        throw new Error('not this one');
      });
    await expect(follows(store(), failing, 100)).rejects.toThrow('not this one');
    broken.mockRestore();
    const stored = await Promise.all(
      ENVIRONMENTS.map((environment) => store().readStream(`feed-${accounts[0]}-${environment}`)),
    );
    expect(stored.flat().length).toBeLessThan(6);
    await follows(store(), publisherOn(store()), 100);
    await expectWhole(store(), accounts);
  });

  it('read no history again when a lost checkpoint makes the publisher begin again', async () => {
    const accounts = [newId()];
    await happens(store(), accounts, 9);
    await follows(store(), publisherOn(store()), 10);
    const counted = new Watched(store());
    await follows(counted, publisherOn(counted), 100);
    const own = (await logOf(store())).filter(
      ({ stream, metadata }) => stream.startsWith('note-') && metadata.accountId === accounts[0],
    );
    expect(own.filter(({ stream }) => counted.reads.includes(stream))).toEqual([]);
    await expectWhole(store(), accounts);
  });
});

describe('an installation that is older than the feeds', () => {
  const pastOf = async (accountId: string): Promise<unknown[]> =>
    (await embedded.readStream(`feed-${accountId}-test`)).map(({ data }) => (data as FeedEvent['data']).past);

  it('gets them from the log, and the events that it has delivered are marked', async () => {
    const accountId = newId();
    const places = new Places();
    await happens(embedded, [accountId], 3);
    places.places.set('webhook_deliveries', (await embedded.head()) ?? '');
    await happens(embedded, [accountId], 3);
    const first = publisherOn(embedded, undefined, places);
    await first.prepare();
    // The handler of deliveries goes on, and the process dies before the publisher has saved its place.
    places.places.set('webhook_deliveries', (await embedded.head()) ?? '');
    const second = publisherOn(embedded, undefined, places);
    await second.prepare();
    await follows(embedded, second, 2);
    await expectWhole(embedded, [accountId]);
    expect(await pastOf(accountId)).toEqual([true, true, undefined, undefined]);
  });

  it('and a new installation has none that is marked, when a second process begins before the publisher has a place', async () => {
    const [accountId, other] = [newId(), newId()];
    const places = new Places();
    const first = publisherOn(embedded, undefined, places);
    await first.prepare();
    await happens(embedded, [accountId], 3);
    await follows(embedded, first, 2);
    await happens(embedded, [accountId, other], 6);
    // The handler of deliveries has passed events of which no feed has told yet.
    places.places.set('webhook_deliveries', (await embedded.head()) ?? '');
    const second = publisherOn(embedded, undefined, places);
    await second.prepare();
    await follows(embedded, second, 2);
    expect([...(await pastOf(accountId)), ...(await pastOf(other))].filter((past) => past !== undefined)).toEqual([]);
    expect((await pastOf(other)).length).toBeGreaterThan(0);
  });

  it('and a place of another log is forgotten', async () => {
    const places = new Places();
    places.places.set('webhook_deliveries_before_feeds', '9'.repeat(20));
    await publisherOn(embedded, undefined, places).prepare();
    expect([...places.places]).toEqual([['webhook_deliveries_before_feeds', 'nothing']]);
  });

  it('and a second process waits until the first has decided', async () => {
    const places = new Places();
    const accountId = newId();
    await happens(embedded, [accountId], 3);
    places.places.set('webhook_deliveries', (await embedded.head()) ?? '');
    let taken = 0;
    places.take = async () => {
      taken += 1;
      if (taken === 2) places.places.set('webhook_deliveries_before_feeds', (await embedded.head()) ?? '');
      return taken > 2;
    };
    const second = publisherOn(embedded, undefined, places);
    await second.prepare();
    await follows(embedded, second, 2);
    expect([taken, await pastOf(accountId)]).toEqual([3, [true, true]]);
  });
});

describe('a copy of the log', () => {
  it('continues the feeds, although its positions are others', async () => {
    const accounts = [newId()];
    const target = await EventStoreDbDouble.start();
    const copy = EventStoreDbEventStore.connect({ connectionString: target.connectionString });
    try {
      await happens(embedded, accounts, 12);
      await follows(embedded, publisherOn(embedded), 100);
      await happens(embedded, accounts, 3);
      await copyLog(embedded, copy, () => undefined);
      await follows(copy, publisherOn(copy), 4);
      await expectWhole(copy, accounts);
      await happens(copy, accounts, 5);
      await follows(copy, publisherOn(copy), 100);
      await expectWhole(copy, accounts);
    } finally {
      await copy.close();
      await target.stop();
    }
  });
});
