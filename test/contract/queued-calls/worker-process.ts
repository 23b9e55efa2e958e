// A worker process with the real adapter, for exchange.test.ts, which kills it.
import { Redis } from 'ioredis';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { IDENTITY_VENDOR_QUEUE } from './queued-identity-vendor.js';
import { CallSettings } from '../../../src/adapters/queued-calls/queue.js';
import { CallWorker, runCallWorker } from '../../../src/adapters/queued-calls/worker.js';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';

const [redisUrl = '', vendorUrl = '', credential = '', masterKeys = '', vaultDirectory = ''] = process.argv.slice(2);
const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
const vendor = new IdvIdentityVendor({ baseUrl: vendorUrl, credential, timeoutMs: 20_000 });
const vault = DiskVault.open({
  directory: vaultDirectory,
  keys: MasterKeys.parse(masterKeys),
  clock: new SystemClock(),
});
const host = new CallWorker(
  IDENTITY_VENDOR_QUEUE,
  vendor,
  redis,
  new RedisSealedPayloads(redis, vault),
  new SystemClock(),
  new CallSettings(20_000),
);
const worker = runCallWorker(host, redis, { lockDuration: 400, stalledInterval: 200 });
await worker.waitUntilReady();
process.stdout.write('ready\n');
