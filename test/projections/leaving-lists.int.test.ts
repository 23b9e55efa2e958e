// Lists that would grow for ever contain only recent documents. A document that has left a list is found by its id, may
// continue, and is rebuilt as before.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { newId } from '../../src/kernel/ids.js';
import { listOf, type Projection } from '../../src/kernel/projection.js';
import type { NewEvent } from '../../src/ports/event-store.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import {
  append,
  Failures,
  liveContents,
  Log,
  opened,
  type Parcel,
  parcels,
  project,
  rebuild,
  stamped,
  storedLines,
} from './fixtures.js';

/** Documents leave these lists after thirty days. The document with the most stamps of its account stays. */
const cards: Projection<Parcel> = {
  ...parcels,
  name: 'cards',
  listedForDays: 30,
  entries: (parcel) => [
    ...(parcels.entries?.(parcel) ?? []),
    { list: listOf({ most: parcel.account }), sort: String(parcel.stamps), latestOnly: true },
  ],
};
/** The same projection as it was 29 days ago. */
const earlier: Projection<Parcel> = { ...cards, listedForDays: 59 };
const DAY_MS = 24 * 3_600_000;

const daysAgo = (days: number, event: NewEvent): NewEvent => ({
  ...event,
  metadata: { ...event.metadata, occurredAt: new Date(Date.now() - days * DAY_MS).toISOString() },
});

describe('a projection that lists documents for thirty days', () => {
  let server: RedisServer;
  let log: Log;
  let store: RedisProjectionStore;
  let models: RedisReadModels;
  let over: string;
  let waiting: string;
  let recent: string;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    store = new RedisProjectionStore(server.client(), new SystemClock(), 5);
    models = new RedisReadModels(server.client(), log.store, [cards], new Failures(), KEPT_MS);
    [over, waiting, recent] = [newId(), newId(), newId()];
    const stamp = () => daysAgo(31, stamped());
    await append(log.store, over, daysAgo(31, opened('a')), stamp(), stamp(), stamp());
    await append(log.store, waiting, daysAgo(31, opened('a', '2024-01-01T00:00:00.000Z')), stamp());
    await append(log.store, recent, daysAgo(29, opened('a')), daysAgo(29, stamped()));
  });

  afterEach(() => log.close());

  afterAll(() => server.stop());

  const cardsIn = async (list: string) =>
    (await models.list(cards, list, { limit: 100 })).items.map(({ id }) => id).sort();
  const inLists = async () => ({
    all: await cardsIn(listOf({ account: 'a' })),
    open: await cardsIn(listOf({ account: 'a', status: 'open' })),
    most: await cardsIn(listOf({ most: 'a' })),
    due: await models.due(cards, new Date(), 10),
  });
  const keys = '{cards:v1}:live';

  it.each(['by the retention job', 'by a rebuild'])(
    'removes old documents %s, keeps due, recent and latest documents, and finds all documents by their ids',
    async (how) => {
      await project(log.store, store, [how === 'by a rebuild' ? cards : earlier]);
      if (how !== 'by a rebuild') {
        expect((await inLists()).all).toEqual([over, waiting, recent].sort());
        await store.letOldEntriesLeave(cards);
      }
      expect(await inLists()).toEqual({
        all: [waiting, recent].sort(),
        open: [waiting],
        most: [over],
        due: [waiting],
      });
      expect([...(await storedLines(server.client(), cards)).keys()].sort()).toEqual([waiting, recent].sort());
      expect(await models.get(cards, over)).toMatchObject({ revision: 3, doc: { stamps: 3 } });
      const keptOfIt = (await server.client().zrange(`${keys}:entries`, '0', '-1')).filter((entry) =>
        entry.endsWith(over),
      );
      expect(keptOfIt).toEqual([expect.stringMatching(/ 3 /)]);
    },
  );

  it('lists a document again when the document continues, and replaces the latest document by a later one', async () => {
    await project(log.store, store, [cards]);
    await append(log.store, recent, ...Array.from({ length: 4 }, () => daysAgo(0, stamped())));
    await append(log.store, over, daysAgo(0, stamped()));
    await project(log.store, store, [cards]);
    await store.letOldEntriesLeave(cards);
    expect(await inLists()).toEqual({
      all: [over, waiting, recent].sort(),
      open: [waiting],
      most: [recent],
      due: [waiting],
    });
  });

  it('keeps a document that continues while the job reads it', async () => {
    await project(log.store, store, [earlier]);
    const redis = server.client();
    const lists = new RedisProjectionStore(redis);
    const changeIf = redis.changeIf.bind(redis);
    redis.changeIf = (async (...args: Parameters<typeof changeIf>) => {
      redis.changeIf = changeIf;
      await append(log.store, over, daysAgo(0, stamped()));
      await project(log.store, store, [cards]);
      return changeIf(...args);
    }) as typeof changeIf;
    await lists.letOldEntriesLeave(cards);
    expect((await inLists()).all).toContain(over);
    await lists.letOldEntriesLeave(cards);
    expect((await inLists()).all).toEqual([over, waiting, recent].sort());
  });

  it('removes any number of old documents', async () => {
    const ids = Array.from({ length: 300 }, newId);
    await Promise.all(ids.map((id) => append(log.store, id, daysAgo(40, opened('many')))));
    await project(log.store, store, [earlier]);
    expect((await liveContents(server.client(), cards))?.documents).toBe(303);
    await store.letOldEntriesLeave(cards);
    expect((await liveContents(server.client(), cards))?.documents).toBe(2);
    expect(await cardsIn(listOf({ account: 'many' }))).toEqual([]);
  });

  it('shows no difference after a rebuild, even if another generation has removed the old documents', async () => {
    await project(log.store, store, [earlier]);
    for (let round = 0; round < 2; round++)
      expect(await rebuild(log.store, store, [cards])).toMatchObject([{ differences: [] }]);
    await server.client().hset(`${keys}:lines`, recent, '1\taccount=b ');
    expect(await rebuild(log.store, store, [cards])).toMatchObject([{ differences: [recent] }]);
  });
});
