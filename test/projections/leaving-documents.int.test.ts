// Redis holds the documents of what happened lately. What has left is read as before, goes on as before, and is rebuilt as before.
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProjectionKeys } from '../../src/adapters/read-models/redis-keys.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { newId } from '../../src/kernel/ids.js';
import { listOf, type Projection } from '../../src/kernel/projection.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import type { NewEvent } from '../../src/ports/event-store.js';
import { until } from '../support/eventually.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import {
  append,
  delivered,
  Failures,
  Log,
  opened,
  type Parcel,
  parcels,
  QUICK,
  rebuild,
  stamped,
  Told,
  weights,
  write,
} from './fixtures.js';

/** As parcels and weights, but for what happened lately only. The one lists, the other does not. */
const letters = ofLate(parcels, 'letters');
const stamps = ofLate(weights, 'stamps');
/** These leave their lists too, except for the one with the most stamps. */
const cards: Projection<Parcel> = {
  ...letters,
  name: 'cards',
  listedForDays: 30,
  entries: (parcel) => [
    ...(letters.entries?.(parcel) ?? []),
    { list: listOf({ most: parcel.account }), sort: String(parcel.stamps), latestOnly: true },
  ],
};
const ALL = [letters, stamps, cards];
const KEPT_FOR_MS = 2 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

function ofLate<Doc extends object>({ lasting: _, ...projection }: Projection<Doc>, name: string): Projection<Doc> {
  return { ...projection, name };
}

const daysAgo = (days: number, event: NewEvent): NewEvent => ({
  ...event,
  metadata: { ...event.metadata, occurredAt: new Date(Date.now() - days * DAY_MS).toISOString() },
});
const now = (event: NewEvent): NewEvent => daysAgo(0, event);

describe('documents that are old', () => {
  let server: RedisServer;
  let redis: Redis;
  let log: Log;
  let failures: Failures;
  let models: RedisReadModels;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    failures = new Failures();
    models = reading(KEPT_FOR_MS);
  });

  afterEach(() => log.close());

  afterAll(() => server.stop());

  const reading = (keptForMs: number): RedisReadModels =>
    new RedisReadModels(server.client(), log.store, ALL, failures, keptForMs);
  /** Its looks at documents that are ahead on one side follow each other quickly. */
  const storing = (keptForMs: number): RedisProjectionStore => new RedisProjectionStore(server.client(), keptForMs, 5);
  const build = (keptForMs = KEPT_FOR_MS) => rebuild(log.store, storing(keptForMs), ALL);
  /** What Redis has of a document. */
  const stored = (id: string) =>
    Promise.all([redis.hget('{letters:v1}:live:docs', id), redis.hget('{stamps:v1}:live:docs', id)]);
  const storedCard = (id: string) => redis.hget('{cards:v1}:live:docs', id);
  const whole = [expect.stringContaining(`"account"`), expect.stringContaining('"events"')];
  const left = (revision: number) => [expect.stringMatching(new RegExp(`^${revision}\t[^\n]+\n$`)), null];
  const idsIn = async (status: 'open' | 'delivered') =>
    (await models.list(letters, listOf({ account: 'a', status }), { limit: 100 })).items.map(({ id }) => id);

  /** Runs a projector that keeps them for two hours until it has passed an event that happens now. */
  async function passLog(): Promise<void> {
    const projector = new Projector(log.store, storing(KEPT_FOR_MS), ALL, new Told(), QUICK);
    projector.start();
    try {
      const id = newId();
      await append(log.store, id, now(opened('other')));
      await until('it has come to the end of the log', async () =>
        [...(await stored(id)), await storedCard(id)].every((text) => text !== null),
      );
    } finally {
      await projector.stop();
    }
  }

  it('leave, and what lists them stays', async () => {
    const [old, young] = [newId(), newId()];
    await append(log.store, old, opened('a'), stamped());
    await append(log.store, young, now(opened('a')));
    await build(KEPT_MS);
    expect([await stored(old), await stored(young)]).toEqual([whole, whole]);
    await passLog();
    expect([await stored(old), await stored(young)]).toEqual([left(1), whole]);
    expect((await idsIn('delivered')).sort()).toEqual([old, young].sort());
    expect(failures.misses).toBe(1);
  });

  it('are read as before, and do not come back by that', async () => {
    const id = newId();
    await append(log.store, id, opened('a', '2024-01-01T00:00:00.000Z'), stamped());
    await build(KEPT_MS);
    const list = listOf({ account: 'a' });
    const read = () =>
      Promise.all([
        models.list(letters, list, { limit: 10 }),
        models.get(letters, id),
        models.get(stamps, id),
        models.due(letters, new Date(), 10),
      ]);
    const before = await read();
    expect(before[0].items).toMatchObject([{ revision: 1, doc: { stamps: 1 } }]);
    await passLog();
    expect(await read()).toEqual(before);
    expect(await stored(id)).toEqual(left(1));
  });

  it.each(['whoever appends', 'the projector'])('go on where they were when %s writes them again', async (writer) => {
    const id = newId();
    await append(log.store, id, opened('a', '2024-01-01T00:00:00.000Z'), stamped());
    await build();
    expect([await idsIn('open'), await idsIn('delivered')]).toEqual([[id], []]);
    expect(await stored(id)).toEqual(left(1));
    if (writer === 'the projector') await append(log.store, id, now(stamped()), now(delivered()));
    else await write(log.store, models, id, now(stamped()), now(delivered()));
    if (writer === 'the projector') await passLog();
    expect(await stored(id)).toEqual(whole);
    expect(await models.get(letters, id)).toEqual({ id, revision: 3, doc: { account: 'a', stamps: 2, dueAt: null } });
    expect(await models.get(stamps, id)).toEqual({ id, revision: 3, doc: { events: 4 } });
    expect([await idsIn('open'), await idsIn('delivered')]).toEqual([[], [id]]);
    expect(await models.due(letters, new Date(), 10)).toEqual([]);
  });

  it('are not taken back by a slow writer while they are listed', async () => {
    const id = newId();
    const early = await append(log.store, id, now(opened('a', '2024-01-01T00:00:00.000Z')));
    await append(log.store, id, delivered());
    await build();
    await models.applyNow(early);
    expect((await stored(id))[0]).toEqual(left(1)[0]);
    expect([await idsIn('open'), await idsIn('delivered')]).toEqual([[], [id]]);
  });

  it('are no difference after a rebuild, whichever side has let them go', async () => {
    const ids = Array.from({ length: 20 }, newId);
    for (const id of ids) await append(log.store, id, opened('a'), stamped());
    await append(log.store, newId(), now(opened('a')));
    const none = ALL.map(() => expect.objectContaining({ differences: [] }));
    await build(KEPT_MS);
    expect(await build()).toEqual(none);
    expect(await redis.hlen('{stamps:v1}:live:docs')).toBe(1);
    expect(await build()).toEqual(none);
    // What is missing but should be there is one, and so is an entry that should not be.
    const [id = ''] = ids;
    await redis.hset('{letters:v1}:live:docs', id, '1\taccount=b \n');
    await redis.del('{stamps:v1}:live:docs');
    const [ofLetters, ofStamps] = await build();
    expect(ofLetters?.differences).toEqual([id]);
    expect(ofStamps?.differences).toHaveLength(1);
  });

  it('leave in the end, however many there are', async () => {
    const ids = Array.from({ length: 1_200 }, newId);
    await Promise.all(ids.map((id) => append(log.store, id, opened('a'))));
    await build(KEPT_MS);
    expect(await redis.hlen('{stamps:v1}:live:docs')).toBe(1_200);
    while ((await redis.hlen('{stamps:v1}:live:docs')) > 10) await passLog();
    expect(await redis.zcard('{stamps:v1}:live:entries')).toBeLessThan(10);
  });

  describe('whose lists would grow without end', () => {
    const cardsIn = async (list: string) =>
      (await models.list(cards, list, { limit: 100 })).items.map(({ id }) => id).sort();
    const inLists = async () => ({
      all: await cardsIn(listOf({ account: 'a' })),
      open: await cardsIn(listOf({ account: 'a', status: 'open' })),
      most: await cardsIn(listOf({ most: 'a' })),
      due: await models.due(cards, new Date(), 10),
    });
    let over: string;
    let waiting: string;
    let recent: string;

    beforeEach(async () => {
      [over, waiting, recent] = [newId(), newId(), newId()];
      const stamp = () => daysAgo(31, stamped());
      await append(log.store, over, daysAgo(31, opened('a')), stamp(), stamp(), stamp());
      await append(log.store, waiting, daysAgo(31, opened('a', '2024-01-01T00:00:00.000Z')), stamp());
      await append(log.store, recent, daysAgo(29, opened('a')), daysAgo(29, stamped()));
    });

    it.each(['at the time', 'by a rebuild'])(
      'leave them %s; what is due, what was lately and the latest stay, and all are found by their ids',
      async (how) => {
        if (how === 'at the time') {
          await build(KEPT_MS);
          expect(await cardsIn(listOf({ account: 'a' }))).toEqual([over, waiting, recent].sort());
          await passLog();
        } else await build();
        expect(await inLists()).toEqual({
          all: [waiting, recent].sort(),
          open: [waiting],
          most: [over],
          due: [waiting],
        });
        expect([await storedCard(over), await storedCard(waiting), await storedCard(recent)]).toEqual([
          null,
          left(1)[0],
          left(1)[0],
        ]);
        expect(await models.get(cards, over)).toMatchObject({ revision: 3, doc: { stamps: 3 } });
        const [, , entries] = new ProjectionKeys(cards).live;
        const keptOfIt = (await redis.zrange(entries, '0', '-1')).filter((entry) => entry.endsWith(over));
        expect(keptOfIt).toEqual([expect.stringMatching(/ 3 /)]);
      },
    );

    it('are listed again when they go on, and give way to a later one', async () => {
      await build();
      await append(log.store, recent, ...Array.from({ length: 4 }, () => now(stamped())));
      await append(log.store, over, now(stamped()));
      await passLog();
      expect(await inLists()).toEqual({
        all: [over, waiting, recent].sort(),
        open: [waiting],
        most: [recent],
        due: [waiting],
      });
      expect(await models.get(cards, over)).toMatchObject({ revision: 4, doc: { stamps: 4 } });
    });

    it('are no difference after a rebuild', async () => {
      const none = ALL.map(() => expect.objectContaining({ differences: [] }));
      await build(KEPT_MS);
      expect(await build()).toEqual(none);
      expect(await build()).toEqual(none);
    });
  });
});
