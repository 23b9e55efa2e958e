import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';

type Observe = (seconds: number) => void;

/** A replica answers reads, so that its connections are not broken off for each write that it refuses. */
const RENEWED_EVERY_MS = 1_000;
/** By the options of a connection: one that is made from another has options of its own, and this function in common. */
const renewedAt = new WeakMap<object, number>();

/** After a failover the address leads to another server, and connections to the one that is a replica now would stay there for ever. */
function renewOnReplica(this: RedisOptions, { message }: Error): boolean {
  const now = performance.now();
  // A script's error names it further on.
  if (!message.includes('READONLY') || now - (renewedAt.get(this) ?? -Infinity) < RENEWED_EVERY_MS) return false;
  renewedAt.set(this, now);
  return true;
}

/** Connects with its first use: an operator's command may need no Redis. */
export function connectionTo(
  { url }: { readonly url: string },
  { role }: { readonly role: string },
  log: Pick<Logger, 'warn'>,
  observe: Observe,
): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
    reconnectOnError: renewOnReplica,
    connectionName: `screening-${role}`,
  });
  redis.on('error', (error: Error) => log.warn({ err: error }, 'redis connection'));
  measure(redis, observe);
  return redis;
}

/**
 * Another connection, for BullMQ's workers. What they send while Redis is away waits. Were it refused, a busy worker would ask again
 * at once, for ever, and the process would hear of nothing else.
 */
export function workerConnection(redis: Redis): Redis {
  const connection = redis.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null });
  // The workers tell of it.
  connection.on('error', () => undefined);
  return connection;
}

/** Measures a command, and the next one when that is answered: measuring each would cost more than it tells. */
export function measure(redis: Redis, observe: Observe): void {
  const send = redis.sendCommand.bind(redis);
  let measuring = false;
  redis.sendCommand = (command, stream) => {
    if (!measuring && redis.status === 'ready') {
      const sentAt = performance.now();
      const answered = (): void => {
        measuring = false;
        observe((performance.now() - sentAt) / 1_000);
      };
      measuring = true;
      command.promise.then(answered, answered);
    }
    return send(command, stream);
  };
}
