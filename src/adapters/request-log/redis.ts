import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import {
  type LoggedRequest,
  type PlacedRequest,
  type RequestFilter,
  RequestLog,
  type RequestPage,
  type RequestShare,
} from '../../ports/request-log.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

const ANSWER_WITHIN_MS = 2_000;
const HOUR_MS = 3_600_000;
const DAYS_MS = 30 * 24 * HOUR_MS;
/** The lengths are approximate, because Redis removes the oldest requests in blocks. */
const MOST = { servers: 10_000, pages: 5_000 } as const;
/** The number of requests that a filter examines at a time. */
const LOOKED_AT = 2_000;

type Asked = Parameters<RequestLog['read']>[1];
type Entry = [id: string, fields: [name: string, json: string]];

/** One stream for each share of an account and environment, with a JSON text for each request. */
export class RedisRequestLog extends RequestLog {
  private readonly connection: BoundedRedis;
  /** The time when this process last removed the old requests of a stream. */
  private readonly trimmed = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly redis: Redis,
    private readonly now: () => number = Date.now,
  ) {
    super();
    this.connection = new BoundedRedis(redis, ANSWER_WITHIN_MS);
  }

  override note(share: RequestShare, request: LoggedRequest): void {
    if (this.redis.status !== 'ready') return;
    const key = keyOf(share);
    this.redis.xadd(key, 'MAXLEN', '~', MOST[share.callers], '*', 'r', JSON.stringify(request)).catch(() => undefined);
    const now = this.now();
    if (now < (this.trimmed.get(key) ?? 0) + HOUR_MS) return;
    this.trimmed.set(key, now);
    this.redis.pexpire(key, DAYS_MS + HOUR_MS).catch(() => undefined);
    this.redis.xtrim(key, 'MINID', '~', now - DAYS_MS).catch(() => undefined);
  }

  override async read(share: RequestShare, { after, limit, filter }: Asked): Promise<RequestPage> {
    const key = keyOf(share);
    const oldest = `${this.now() - DAYS_MS}-0`;
    const count = Object.keys(filter).length > 0 ? Math.max(limit, LOOKED_AT) : limit;
    if (after === null) {
      const requests = (await this.newest(key, oldest, { filter, limit, count, before: '+' })).slice(-limit);
      return { requests, next: requests.at(-1)?.place ?? '0-0', hasMore: false };
    }
    const from = parseInt(after, 10) < parseInt(oldest, 10) ? oldest : after;
    const found = await this.connection.use((redis) => redis.xrange(key, `(${from}`, '+', 'COUNT', count + 1));
    const examined = (found as Entry[]).slice(0, count).map(requestOf);
    const matching = examined.filter((request) => matches(request, filter));
    const requests = matching.slice(0, limit);
    const isCut = requests.length < matching.length;
    const next = (isCut ? requests : examined).at(-1)?.place ?? from;
    return { requests, next, hasMore: isCut || found.length > count };
  }

  /** Reads on until there are enough requests, because a caller cannot continue backwards. */
  private async newest(
    key: string,
    oldest: string,
    { before, ...asked }: Omit<Asked, 'after'> & { readonly count: number; readonly before: string },
  ): Promise<PlacedRequest[]> {
    const { count, limit, filter } = asked;
    const found = await this.connection.use((redis) => redis.xrevrange(key, before, oldest, 'COUNT', count));
    const examined = (found as Entry[]).map(requestOf).reverse();
    const matching = examined.filter((request) => matches(request, filter));
    const [first] = examined;
    if (first === undefined || examined.length < count || matching.length >= limit) return matching;
    const rest = { ...asked, limit: limit - matching.length, before: `(${first.place}` };
    return [...(await this.newest(key, oldest, rest)), ...matching];
  }
}

function matches(request: LoggedRequest, { status, route }: RequestFilter): boolean {
  return (status === undefined || request.status === status) && (route === undefined || request.route === route);
}

function requestOf([place, [, json]]: Entry): PlacedRequest {
  return { place, ...(JSON.parse(json) as LoggedRequest) };
}

function keyOf({ accountId, environment, callers }: RequestShare): string {
  return `requests:${accountId}:${environment}${callers === 'pages' ? ':pages' : ''}`;
}
