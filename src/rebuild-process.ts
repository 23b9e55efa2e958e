// The process in which a service builds read models anew (platform/subscriptions/rebuild-process.ts): its own reading of the log and its own
// connection to Redis, and of the modules nothing but their projections.
import 'reflect-metadata';
import { on } from 'node:events';
import { openStoredLog } from './adapters/event-store/stored-log.js';
import { RedisProjectionStore } from './adapters/read-models/redis-projection-store.js';
import { connectionTo } from './adapters/redis/connection.js';
import { RedisRequestActivity } from './adapters/request-activity/redis.js';
import { PROJECTIONS } from './modules/projections.js';
import { UPCASTING } from './modules/stored-events.module.js';
import type { RebuildSettings } from './platform/subscriptions/projector.module.js';
import { dropped, serveRebuilds } from './platform/subscriptions/rebuild-process.js';
import { Throttle } from './platform/subscriptions/throttle.js';
import { UpcastingEventStore } from './platform/upcasting/upcasting-event-store.js';

/** With the service, and as it would die itself (`main.ts`). */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** The log of the service tells why. */
function fail(error: unknown): void {
  process.send?.(dropped(error), die);
}

process.once('disconnect', die);
if (!process.connected) die();
process.on('uncaughtException', fail);
// These go to all that were started together. The service says when to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

async function build(): Promise<void> {
  const messages = on(process, 'message');
  const [first] = (await messages.next()).value as [RebuildSettings];
  const { eventStore, folder, redis: settings, process: service, token } = first;
  // A connection that is lost shows by the commits that fail, of which the service's log tells.
  const redis = connectionTo(settings, service, { warn: () => undefined });
  const stored = await openStoredLog(eventStore, folder);
  const throttle = new Throttle(new RedisRequestActivity(redis));
  await serveRebuilds(
    messages,
    (message) => void process.send?.(message),
    new UpcastingEventStore(stored, UPCASTING),
    new RedisProjectionStore(redis, settings.documentsKeptForMs, throttle.pause),
    PROJECTIONS,
    token,
    throttle,
  );
  redis.disconnect();
  await stored.close();
}

build().then(() => process.exit(), fail);
