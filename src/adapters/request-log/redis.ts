import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { machineNow } from '../../kernel/machine-time.js';
import {
  type LoggedRequest,
  type PlacedRequest,
  RequestLog,
  type RequestRange,
  type RequestShare,
} from '../../ports/request-log.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

const ANSWER_WITHIN_MS = 2_000;
const HOUR_MS = 3_600_000;
const DAYS_MS = 30 * 24 * HOUR_MS;
/** The lengths are approximate, because Redis removes the oldest requests in blocks. */
const MOST = { servers: 10_000, pages: 5_000 } as const;

type Entry = [id: string, fields: [name: string, json: string]];

/** One stream for each share of an account and environment, with a JSON text for each request. */
export class RedisRequestLog extends RequestLog {
  private readonly connection: BoundedRedis;
  /** The time when this process last removed the old requests of a stream. */
  private readonly trimmed = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly redis: Redis,
    private readonly now: () => number = machineNow,
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

  override async read(share: RequestShare, range: RequestRange, count: number): Promise<readonly PlacedRequest[]> {
    const key = keyOf(share);
    const oldest = this.now() - DAYS_MS;
    if ('after' in range) {
      const from = parseInt(range.after, 10) < oldest ? oldest : `(${range.after}`;
      const found = await this.connection.use((redis) => redis.xrange(key, from, '+', 'COUNT', count));
      return (found as Entry[]).map(requestOf);
    }
    const to = range.before === null ? '+' : `(${range.before}`;
    const found = await this.connection.use((redis) => redis.xrevrange(key, to, oldest, 'COUNT', count));
    return (found as Entry[]).map(requestOf).reverse();
  }
}

function requestOf([place, [, json]]: Entry): PlacedRequest {
  return { place, ...(JSON.parse(json) as LoggedRequest) };
}

function keyOf({ accountId, environment, callers }: RequestShare): string {
  return `requests:${accountId}:${environment}${callers === 'pages' ? ':pages' : ''}`;
}
