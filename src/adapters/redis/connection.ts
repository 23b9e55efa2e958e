import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';

type Observe = (seconds: number) => void;

/** The shortest time between renewals. A replica still answers reads, so the connections are not closed for each refused write. */
const RENEWED_EVERY_MS = 1_000;
/** Keyed by the options of a connection. A duplicated connection has its own options, but shares this function. */
const renewedAt = new WeakMap<object, number>();

/** Renews a connection to a replica. After a failover the address leads to another server, and old connections would stay at the replica for ever. */
function renewOnReplica(this: RedisOptions, { message }: Error): boolean {
  const now = performance.now();
  // In a script's error, this word is later in the message.
  if (!message.includes('READONLY') || now - (renewedAt.get(this) ?? -Infinity) < RENEWED_EVERY_MS) return false;
  renewedAt.set(this, now);
  return true;
}

/** Connects at the first use, because an operator command may not need Redis. */
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
 * Another connection, for BullMQ's workers. The commands of workers wait while Redis is unavailable. If the commands were refused, a busy worker
 * would repeat them at once and for ever, and would block the process.
 */
export function workerConnection(redis: Redis): Redis {
  const connection = redis.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null });
  // The workers report the errors.
  connection.on('error', () => undefined);
  return connection;
}

/** Measures a command, and then the next command after its answer. Measuring every command would cost too much. */
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
