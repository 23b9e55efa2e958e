// What an idle process asks Redis again and again is asked in one script for all of it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../../src/adapters/read-models/redis.js';
import { Gathered } from '../../../src/adapters/redis/gathered.js';
import { Failures, Log, parcels, weights } from '../../projections/fixtures.js';
import { KEPT_MS, RedisServer } from '../../support/redis.js';

describe('what is asked in one turn', () => {
  it('is sent together, and each has its own reply', async () => {
    const sent: (readonly number[])[] = [];
    const gathered = new Gathered(async (asks: readonly number[]) => {
      sent.push(asks);
      return asks.map((ask) => ask * 10);
    });
    expect(await Promise.all([1, 2, 3].map((ask) => gathered.ask(ask)))).toEqual([10, 20, 30]);
    expect(await gathered.ask(4)).toBe(40);
    expect(sent).toEqual([[1, 2, 3], [4]]);
  });

  it('fails together, and what is asked later does not', async () => {
    let away = true;
    const gathered = new Gathered(async (asks: readonly number[]) => {
      if (away) throw new Error('away');
      return asks;
    });
    const outcomes = await Promise.allSettled([gathered.ask(1), gathered.ask(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    away = false;
    expect(await gathered.ask(3)).toBe(3);
  });
});

describe('a round of an idle process', () => {
  let server: RedisServer;
  let log: Log;
  beforeAll(async () => {
    [server, log] = await Promise.all([RedisServer.start(), Log.open()]);
  });
  afterAll(async () => {
    await Promise.all([server.stop(), log.close()]);
  });

  /** Once Redis has the script. */
  async function scriptsOf(round: () => Promise<unknown>): Promise<number> {
    await round();
    const scripts = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await server.client().info('commandstats'))?.[1] ?? 0);
    const before = await scripts();
    await round();
    return (await scripts()) - before;
  }

  it('renews all leases of projections with one script', async () => {
    const store = new RedisProjectionStore(server.client(), KEPT_MS);
    expect(await store.lease(parcels, 'other', 60_000)).not.toBeNull();
    const lease = () => Promise.all([parcels, weights].map((projection) => store.lease(projection, 'test', 60_000)));
    expect(await lease()).toEqual([null, { generations: { live: null, building: null }, rebuildRequest: null }]);
    expect(await scriptsOf(lease)).toBe(1);
  });

  it('asks with one script for all that is due', async () => {
    const models = new RedisReadModels(server.client(), log.store, [parcels, weights], new Failures(), KEPT_MS);
    const due = () => Promise.all([parcels, weights].map((projection) => models.due(projection, new Date(), 10)));
    expect(await due()).toEqual([[], []]);
    expect(await scriptsOf(due)).toBe(1);
  });
});
