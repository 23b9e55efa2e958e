import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { RedisServer } from '../support/redis.js';
import { Failures, Log, opened, parcels, write } from './fixtures.js';
import { newId } from '../../src/kernel/ids.js';
const server = await RedisServer.start(); const log = await Log.open();
const redis = server.client();
const store = new RedisProjectionStore(server.client());
const models = new RedisReadModels(redis, log.store, [parcels], new Failures());
const fence = (await store.acquireLease(parcels, 't', 60000))!;
const begun = (await store.beginGeneration(parcels, fence, { live: null, building: null }, true))!;
await store.flip(parcels, fence, begun, { projection: '', generation: 0, request: null, documents: 0, digest: '', differences: null, finishedAt: '' });
const ids = Array.from({ length: 500 }, newId);
for (const id of ids) { await write(log.store, models, id, opened('a' + 'y'.repeat(300))); await redis.set('bare:' + id, JSON.stringify({ account: 'y'.repeat(300), stamps: 0, dueAt: null })); }
const N = 60000;
const modes: Record<string, (id: string) => Promise<unknown>> = {
  bare: async (id) => JSON.parse((await redis.get('bare:' + id))!),
  get: (id) => models.get(parcels, id),
};
for (let rep = 0; rep < 4; rep++) for (const c of [64, 1]) for (const m in modes) {
  let i = 0; const n = c === 1 ? N / 6 : N; const t = process.hrtime.bigint(); const u = process.cpuUsage();
  await Promise.all(Array.from({ length: c }, async () => { while (i < n) await modes[m]!(ids[i++ % 500]!); }));
  const s = Number(process.hrtime.bigint() - t) / 1e9; const cpu = process.cpuUsage(u);
  console.log(c, m, Math.round(n / s), 'ops/s', ((cpu.user + cpu.system) / n).toFixed(1), 'us cpu');
}
// in-flight spread over separate turns: one read each turn
await server.stop(); await log.close();
