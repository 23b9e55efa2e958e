import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { coalesceWrites } from './coalesced-writes.js';

/** Connects with its first use: an operator's command may need no Redis. */
export function connectionTo(
  { url }: { readonly url: string },
  { role }: { readonly role: string },
  log: Pick<Logger, 'warn'>,
): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
    connectionName: `seed-${role}`,
  });
  redis.on('error', (error: Error) => log.warn({ err: error }, 'redis connection'));
  return coalesceWrites(redis);
}
