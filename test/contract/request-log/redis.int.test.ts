import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisRequestLog } from '../../../src/adapters/request-log/redis.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { RecentRequests } from '../../../src/modules/accounts/read/recent-requests.js';
import type { LoggedRequest, RequestShare } from '../../../src/ports/request-log.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

const REQUEST: LoggedRequest = {
  at: '2026-03-01T12:00:00.000Z',
  requestId: 'request',
  method: 'POST',
  route: '/screening/submit',
  status: 200,
  code: null,
  durationMs: 12,
  keyId: 'key',
  idempotency: null,
};
const DAY_MS = 86_400_000;
const NEWEST = { after: null, limit: 100, filter: {} };

describe('the request log in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let log: RedisRequestLog;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
    log = new RedisRequestLog(redis);
    await redis.ping();
  });
  afterAll(() => server.stop());

  const someOwner = (): RequestShare => ({ accountId: randomUUID(), environment: 'test', callers: 'servers' });
  const read = (owner: RequestShare, page: Parameters<RecentRequests['read']>[1], from = log) =>
    new RecentRequests(from).read(owner, page);
  const noted = async (owner: ReturnType<typeof someOwner>, requests: readonly Partial<LoggedRequest>[]) => {
    for (const request of requests) log.note(owner, { ...REQUEST, ...request });
    await redis.ping();
  };
  const ids = (requests: readonly LoggedRequest[]): string[] => requests.map(({ requestId }) => requestId);
  const numbered = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => ({ requestId: `${from + at}` }));

  it('returns the newest requests, the oldest of them first, and continues after them', async () => {
    const owner = someOwner();
    await noted(owner, numbered(5));
    const page = await read(owner, { ...NEWEST, limit: 3 });
    expect([ids(page.requests), page.hasMore]).toEqual([['2', '3', '4'], false]);
    expect((await read(owner, { ...NEWEST, after: page.next })).requests).toEqual([]);
    await noted(owner, numbered(5, 5));
    const second = await read(owner, { ...NEWEST, after: page.next, limit: 2 });
    expect([ids(second.requests), second.hasMore]).toEqual([['5', '6'], true]);
    const third = await read(owner, { ...NEWEST, after: second.next, limit: 10 });
    expect([ids(third.requests), third.hasMore]).toEqual([['7', '8', '9'], false]);
    expect(third.requests[0]).toEqual({ ...REQUEST, requestId: '7', place: expect.any(String) });
  });

  it('returns only the requests with the given status and route', async () => {
    const owner = someOwner();
    await noted(owner, [
      { requestId: 'a', status: 404, route: '/screening/:id/status' },
      { requestId: 'b' },
      { requestId: 'c', status: 404 },
      { requestId: 'd', status: 404, route: '/screening/:id/status' },
    ]);
    const found = async (filter: object, after: string | null = null, limit = 10) =>
      read(owner, { after, limit, filter });
    expect(ids((await found({ status: 404 })).requests)).toEqual(['a', 'c', 'd']);
    expect(ids((await found({ status: 404, route: '/screening/:id/status' })).requests)).toEqual(['a', 'd']);
    expect(ids((await found({ status: 404 }, null, 1)).requests)).toEqual(['d']);
    const first = await found({ status: 404 }, '0-0', 2);
    expect([ids(first.requests), first.hasMore]).toEqual([['a', 'c'], true]);
    expect(ids((await found({ status: 404 }, first.next, 2)).requests)).toEqual(['d']);
  });

  it('finds requests with the filter behind thousands of others, from the newest and from a position', async () => {
    const owner = someOwner();
    await noted(owner, [{ requestId: 'rare', status: 404 }, ...numbered(4_500)]);
    const filter = { status: 404 };
    const newest = await read(owner, { after: null, limit: 5, filter });
    expect([ids(newest.requests), newest.hasMore]).toEqual([['rare'], false]);
    await noted(owner, [{ requestId: 'later', status: 404 }]);
    const found: string[] = [];
    let page = { next: newest.next, hasMore: true };
    for (; page.hasMore;) {
      const following = await read(owner, { after: page.next, limit: 5, filter });
      found.push(...ids(following.requests));
      expect(following.next).not.toBe(page.next);
      page = following;
    }
    expect(found).toEqual(['later']);
  });

  it('keeps the requests of servers when those of pages exceed the length of their share', async () => {
    const owner = someOwner();
    const pages = { ...owner, callers: 'pages' as const };
    await noted(owner, [{ requestId: 'server' }]);
    for (const request of numbered(12_000)) log.note(pages, { ...REQUEST, ...request });
    await redis.ping();
    expect(ids(await log.read(owner, { before: null }, 100))).toEqual(['server']);
    expect(ids(await log.read(pages, { before: null }, 1))).toEqual(['11999']);
    expect(await redis.xlen(`requests:${owner.accountId}:test:pages`)).toBeLessThan(5_200);
  });

  it('continues after a position that is older than its 30 days with the oldest request that it keeps', async () => {
    const owner = someOwner();
    const key = `requests:${owner.accountId}:test`;
    const old = Date.now() - 31 * DAY_MS;
    for (let count = 0; count < 5; count++)
      await redis.xadd(key, `${old + count}-0`, 'r', JSON.stringify({ ...REQUEST, requestId: `old ${count}` }));
    await noted(owner, numbered(2));
    for (const after of ['0-0', `${old}-0`]) {
      const page = await read(owner, { ...NEWEST, after, limit: 2 });
      expect([ids(page.requests), page.hasMore]).toEqual([['0', '1'], false]);
    }
    await redis.del(key);
    const empty = await read(owner, { ...NEWEST, after: `${old}-0`, limit: 2 });
    expect([empty.requests, empty.hasMore]).toEqual([[], false]);
  });

  it('separates accounts and environments', async () => {
    const owner = someOwner();
    await noted(owner, numbered(1));
    expect((await read(someOwner(), NEWEST)).requests).toEqual([]);
    expect((await read({ ...owner, environment: 'live' }, NEWEST)).requests).toEqual([]);
  });

  it('removes the oldest requests beyond its length, and shows none that is older than 30 days', async () => {
    const owner = someOwner();
    await noted(owner, numbered(10_500));
    expect(await redis.xlen(`requests:${owner.accountId}:test`)).toBeLessThan(10_200);
    const page = await read(owner, { ...NEWEST, limit: 1 });
    expect(ids(page.requests)).toEqual(['10499']);
    const later = new RedisRequestLog(redis, () => Date.now() + 31 * DAY_MS);
    expect((await read(owner, NEWEST, later)).requests).toEqual([]);
    expect((await read(owner, { ...NEWEST, after: '0-0' }, later)).requests).toEqual([]);
    const lifetime = await redis.pttl(`requests:${owner.accountId}:test`);
    expect([lifetime > 30 * DAY_MS, lifetime < 31 * DAY_MS]).toEqual([true, true]);
  });

  it('records nothing and throws Unavailable at a read while Redis is down', async () => {
    const away = await RedisServer.start();
    const client = away.client();
    const orphan = new RedisRequestLog(client);
    await client.ping();
    await away.stop();
    await until('the connection is lost', () => client.status !== 'ready');
    orphan.note(someOwner(), REQUEST);
    await expect(read(someOwner(), NEWEST, orphan)).rejects.toThrow(Unavailable);
  });
});
