import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../kernel/environment.js';
import { type LoggedRequest, type RequestFilter, RequestLog, type RequestPage } from '../../ports/request-log.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

const ANSWER_WITHIN_MS = 2_000;
const HOUR_MS = 3_600_000;
const DAYS_MS = 30 * 24 * HOUR_MS;
/** The length is approximate, because Redis removes the oldest requests in blocks. */
const MOST = 10_000;
/** The number of requests that one filtered read examines. */
const LOOKED_AT = 2_000;
const START = '0-0';

type Owner = { readonly accountId: string; readonly environment: Environment };
type Entry = [id: string, fields: [name: string, json: string]];

/** One stream for each account and environment, with a JSON text for each request. */
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

  override note(owner: Owner, request: LoggedRequest): void {
    if (this.redis.status !== 'ready') return;
    const key = keyOf(owner);
    this.redis.xadd(key, 'MAXLEN', '~', MOST, '*', 'r', JSON.stringify(request)).catch(() => undefined);
    const now = this.now();
    if (now < (this.trimmed.get(key) ?? 0) + HOUR_MS) return;
    this.trimmed.set(key, now);
    this.redis.pexpire(key, DAYS_MS + HOUR_MS).catch(() => undefined);
    this.redis.xtrim(key, 'MINID', '~', now - DAYS_MS).catch(() => undefined);
  }

  override async read(
    owner: Owner,
    { after, limit, filter }: { readonly after: string | null; readonly limit: number; readonly filter: RequestFilter },
  ): Promise<RequestPage> {
    const key = keyOf(owner);
    const most = Object.keys(filter).length > 0 ? LOOKED_AT : limit;
    const oldest = this.now() - DAYS_MS;
    const found = await this.connection.use(async (redis) =>
      after === null
        ? (await redis.xrevrange(key, '+', oldest, 'COUNT', most)).reverse()
        : redis.xrange(key, `(${after}`, '+', 'COUNT', most),
    );
    const entries = (found as Entry[]).filter(([id]) => parseInt(id, 10) >= oldest);
    const last = entries.at(-1)?.[0] ?? after ?? START;
    const matching = entries.filter((entry) => matches(requestOf(entry), filter));
    const page = after === null ? matching.slice(-limit) : matching.slice(0, limit);
    const next = page.length < matching.length && after !== null ? (page.at(-1)?.[0] ?? last) : last;
    return { requests: page.map(requestOf), next, hasMore: next !== last || (after !== null && found.length === most) };
  }
}

function matches(request: LoggedRequest, { status, route }: RequestFilter): boolean {
  return (status === undefined || request.status === status) && (route === undefined || request.route === route);
}

function requestOf([, [, json]]: Entry): LoggedRequest {
  return JSON.parse(json) as LoggedRequest;
}

function keyOf({ accountId, environment }: Owner): string {
  return `requests:${accountId}:${environment}`;
}
