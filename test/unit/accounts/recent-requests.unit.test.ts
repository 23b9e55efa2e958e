// The shares of the request log as one list, and the tail of several accounts.
import { expect, it } from '@jest/globals';
import { RecentRequests } from '../../../src/modules/accounts/read/recent-requests.js';
import { RequestTail } from '../../../src/ops/request-tail.js';
import {
  type PlacedRequest,
  RequestLog,
  type RequestRange,
  type RequestShare,
} from '../../../src/ports/request-log.js';

const OWNER = { accountId: 'account', environment: 'test' as const };

class LogInMemory extends RequestLog {
  private readonly shares = new Map<string, PlacedRequest[]>();

  override note({ callers, accountId, environment }: RequestShare, request: Omit<PlacedRequest, 'place'>): void {
    const key = `${accountId} ${environment} ${callers}`;
    this.shares.set(key, [...(this.shares.get(key) ?? []), { ...request, place: `${Number(request.requestId)}-0` }]);
  }

  override async read(
    { callers, accountId, environment }: RequestShare,
    range: RequestRange,
    count: number,
  ): Promise<readonly PlacedRequest[]> {
    const kept = this.shares.get(`${accountId} ${environment} ${callers}`) ?? [];
    const at = ({ place }: PlacedRequest): number => parseInt(place, 10);
    if ('after' in range) return kept.filter((one) => at(one) > parseInt(range.after, 10)).slice(0, count);
    return kept.filter((one) => at(one) < parseInt(range.before ?? 'Infinity', 10) || !range.before).slice(-count);
  }
}

const request = (number: number, status = 200) => ({
  at: new Date(number).toISOString(),
  requestId: String(number),
  method: 'GET',
  route: '/screening/options',
  status,
  code: null,
  durationMs: 1,
  keyId: null,
  idempotency: null,
});

function logOf(servers: readonly number[], pages: readonly number[], status?: number): LogInMemory {
  const log = new LogInMemory();
  for (const number of servers) log.note({ ...OWNER, callers: 'servers' }, request(number, status));
  for (const number of pages) log.note({ ...OWNER, callers: 'pages' }, request(number, status));
  return log;
}

const numbers = (requests: readonly { readonly requestId: string }[]): number[] =>
  requests.map(({ requestId }) => Number(requestId));

it.each([1, 2, 3, 100])('pages of %d lead through both shares in order, without a gap', async (limit) => {
  const requests = new RecentRequests(logOf([1, 4, 5, 6, 9], [2, 3, 5, 7, 8, 10, 11]));
  const found: number[] = [];
  for (let [after, hasMore] = ['0-0', true]; hasMore;) {
    const page = await requests.read(OWNER, { after, limit, filter: {} });
    expect(page.requests.length).toBeLessThanOrEqual(limit);
    found.push(...numbers(page.requests));
    ({ next: after, hasMore } = page);
  }
  expect(found).toEqual([1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11]);
});

it('the newest page has the newest requests of both shares, and its position continues after them', async () => {
  const log = logOf([1, 4, 6], [2, 3, 5]);
  const requests = new RecentRequests(log);
  const newest = await requests.read(OWNER, { after: null, limit: 3, filter: {} });
  expect([numbers(newest.requests), newest.hasMore]).toEqual([[4, 5, 6], false]);
  log.note({ ...OWNER, callers: 'pages' }, request(7));
  const { requests: after } = await requests.read(OWNER, { after: newest.next, limit: 3, filter: {} });
  expect(numbers(after)).toEqual([7]);
});

it('a filtered page that has examined only a part says that more follow', async () => {
  const log = logOf(
    Array.from({ length: 4_500 }, (_, at) => at + 1),
    [4_600],
  );
  log.note({ ...OWNER, callers: 'servers' }, request(4_700, 404));
  const requests = new RecentRequests(log);
  const found: number[] = [];
  let [after, hasMore, pages] = ['0-0', true, 0];
  for (; hasMore; pages++) {
    const page = await requests.read(OWNER, { after, limit: 10, filter: { status: 404 } });
    found.push(...numbers(page.requests));
    ({ next: after, hasMore } = page);
  }
  expect([found, pages > 1]).toEqual([[4_700], true]);
  const newest = await requests.read(OWNER, { after: null, limit: 10, filter: { status: 404 } });
  expect(numbers(newest.requests)).toEqual([4_700]);
});

it('the newest page with a filter reads on behind thousands of other requests', async () => {
  const log = logOf([1], [2], 404);
  for (let number = 3; number < 5_000; number++) log.note({ ...OWNER, callers: 'servers' }, request(number));
  const page = await new RecentRequests(log).read(OWNER, { after: null, limit: 10, filter: { status: 404 } });
  expect([numbers(page.requests), page.hasMore]).toEqual([[1, 2], false]);
});

it('a tail shows the newest requests of all accounts, and then each new request once', async () => {
  const log = logOf([1, 4], [3]);
  const other = { accountId: 'other', environment: 'live' as const };
  log.note({ ...other, callers: 'servers' }, request(2));
  const tail = new RequestTail(new RecentRequests(log), [OWNER, other], {});
  expect(numbers(await tail.newest(3))).toEqual([2, 3, 4]);
  expect(await tail.following()).toEqual([]);
  for (const number of [5, 6, 7]) log.note({ ...other, callers: 'pages' }, request(number));
  log.note({ ...OWNER, callers: 'servers' }, request(8));
  const following = await tail.following();
  expect([numbers(following), following[0]?.accountId]).toEqual([[5, 6, 7, 8], 'other']);
  expect(await tail.following()).toEqual([]);
});
