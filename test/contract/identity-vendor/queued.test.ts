import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { IDENTITY_VENDOR_QUEUE, QueuedIdentityVendor } from '../queued-calls/queued-identity-vendor.js';
import { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import { CallSettings, queueOptions } from '../../../src/adapters/queued-calls/queue.js';
import { CallWorker, runCallWorker } from '../../../src/adapters/queued-calls/worker.js';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import type { IdentityVendor } from '../../../src/ports/identity-vendor.js';
import { SandboxIdentityVendor } from '../../../src/vendors/idv/double/identity-vendor.js';
import { startSandbox } from '../../../sandbox/server.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';
import { type IdentityVendorHarness, describeIdentityVendor } from './suite.js';

/** The application's side and the worker's side share Redis and the vault, as two processes would. */
async function sandboxBehindTheQueue(): Promise<IdentityVendorHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'identity-vendor-'));
  const credential = 'test-credential';
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    parts: [new SandboxIdentityVendor({ folder, credential })],
  });
  const server = await RedisServer.start();
  const vaults = new Vaults();
  const vault = vaults.open(`k:${randomBytes(32).toString('base64')}`);
  const clock = new SystemClock();

  const http = new IdvIdentityVendor({ baseUrl: sandbox.url, credential, timeoutMs: 10_000 });
  const behind = new Redis(server.url, { maxRetriesPerRequest: null });
  const host = new CallWorker(
    IDENTITY_VENDOR_QUEUE,
    http,
    behind,
    new RedisSealedPayloads(behind, vault),
    clock,
    new CallSettings(10_000),
  );
  const worker = runCallWorker(host, behind);

  const before = new Redis(server.url, { maxRetriesPerRequest: null });
  const queue = new Queue(IDENTITY_VENDOR_QUEUE.name, {
    ...queueOptions(IDENTITY_VENDOR_QUEUE.name),
    connection: before,
  });
  const open: QueuedCalls<IdentityVendor>[] = [];

  const control = async (path: string, body?: object): Promise<unknown> => {
    const post = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${sandbox.url}/control/${path}`, post);
    if (!response.ok) throw new Error(`control ${path} answered ${response.status}`);
    return response.json();
  };
  return {
    open: async ({ timeoutMs }) => {
      const calls = new QueuedCalls(
        IDENTITY_VENDOR_QUEUE,
        queue,
        before,
        new RedisSealedPayloads(before, vault),
        clock,
        new CallSettings(timeoutMs),
      );
      open.push(calls);
      return new QueuedIdentityVendor(calls);
    },
    calls: async (attemptId) => {
      const { received, executed } = (await control(`calls?key=${attemptId}`)) as {
        received: number;
        executed: number;
      };
      return { received, executed };
    },
    loseNextAnswer: async () => void (await control('lost-answers', { calls: 1 })),
    outage: async (seconds) => void (await control('outage', { seconds })),
    close: async () => {
      for (const calls of open) calls.onApplicationShutdown();
      await worker.close();
      await queue.close();
      await http.close();
      await sandbox.close();
      before.disconnect();
      behind.disconnect();
      await server.stop();
      await vaults.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeIdentityVendor('queued, over HTTP', sandboxBehindTheQueue);
