// The thread in which a service builds read models anew (platform/subscriptions/rebuild-thread.ts): its own reading of the log and its own
// connection to Redis, and of the modules nothing but their projections.
import 'reflect-metadata';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openStoredLog } from './adapters/event-store/stored-log.js';
import { RedisProjectionStore } from './adapters/read-models/redis-projection-store.js';
import { connectionTo } from './adapters/redis/connection.js';
import { PROJECTIONS } from './modules/projections.js';
import { UPCASTING } from './modules/stored-events.module.js';
import type { RebuildThreadData } from './platform/subscriptions/projector.module.js';
import { serveRebuilds } from './platform/subscriptions/rebuild-thread.js';
import { UpcastingEventStore } from './platform/upcasting/upcasting-event-store.js';

/** On Linux of this thread alone: where there are fewer cores than work, requests come first. */
const NICENESS = 10;

if (parentPort === null) throw new Error('Not a thread');
const { eventStore, folder, redis: settings, process: service, token } = workerData as RebuildThreadData;
if (process.platform === 'linux') setPriority(NICENESS);
// A connection that is lost shows by the commits that fail, of which the service's log tells.
const redis = connectionTo(settings, service, { warn: () => undefined });
const stored = await openStoredLog(eventStore, folder);
try {
  await serveRebuilds(
    parentPort,
    new UpcastingEventStore(stored, UPCASTING),
    new RedisProjectionStore(redis, settings.documentsKeptForMs),
    PROJECTIONS,
    token,
  );
} finally {
  redis.disconnect();
  await stored.close();
  parentPort.close();
}
