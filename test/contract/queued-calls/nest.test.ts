// Vendors behind their queues as Nest wires them from their descriptions.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Queue } from 'bullmq';
import type { Backlog } from '../../../src/adapters/queued-calls/caller.js';
import { type CallQueue, CallSettings } from '../../../src/adapters/queued-calls/queue.js';
import { queuedVendor, VendorSurroundings } from '../../../src/adapters/queued-calls/vendor.js';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import type { NoVerdict, VendorCall } from '../../../src/ports/vendor-call.js';
import { newCall } from '../identity-vendor/suite.js';
import { Processes, until } from './processes.js';

type Answer = { readonly kind: string } | NoVerdict;

abstract class Hens {
  abstract lay(call: VendorCall, eggs: number): Promise<Answer>;
}
abstract class Cows {
  abstract milk(call: VendorCall): Promise<Answer>;
}
class QueuedHens extends Hens {
  constructor(private readonly calls: Pick<QueuedCalls<Hens>, 'make'>) {
    super();
  }
  override lay(call: VendorCall, eggs: number): Promise<Answer> {
    return this.calls.make('lay', call, eggs);
  }
}
class QueuedCows extends Cows {
  constructor(private readonly calls: Pick<QueuedCalls<Cows>, 'make'>) {
    super();
  }
  override milk(call: VendorCall): Promise<Answer> {
    return this.calls.make('milk', call);
  }
}
const HENS: CallQueue<Hens> = { name: 'hens', operations: { lay: { repetition: 'idempotent' } } };
const COWS: CallQueue<Cows> = { name: 'cows', operations: { milk: { repetition: 'question' } } };

describe('vendors wired by Nest', () => {
  let processes: Processes;
  let called: unknown[][];
  let queued: Map<string, () => Promise<Backlog>>;
  let modules: TestingModule[];

  beforeEach(async () => {
    processes = await Processes.start();
    [called, queued, modules] = [[], new Map(), []];
  });
  afterEach(async () => {
    for (const module of modules) await module.close();
    await processes.end();
  });

  async function start(
    worker: boolean,
    lay: Hens['lay'] = async (_call, eggs) => ({ kind: `${eggs}-eggs` }),
  ): Promise<TestingModule> {
    const redis = processes.connection();
    const around: VendorSurroundings = {
      redis,
      payloads: processes.payloads(redis),
      clock: new SystemClock(),
      called: (...seen) => called.push(seen),
      queued: (queue, backlog) => queued.set(queue, backlog),
    };
    const vendors = [
      queuedVendor(worker, {
        port: Hens,
        queue: HENS,
        adapter: QueuedHens,
        real: { lay },
        settings: new CallSettings(5_000, 7),
      }),
      queuedVendor(worker, {
        port: Cows,
        queue: COWS,
        adapter: QueuedCows,
        real: { milk: async ({ environment }) => ({ kind: `${environment}-milk` }) },
        settings: new CallSettings(5_000),
      }),
    ];
    const module = await Test.createTestingModule({
      imports: [
        BullModule.forRoot({ connection: redis }),
        BullModule.registerQueue(...vendors.flatMap(({ queues }) => queues)),
      ],
      providers: [
        { provide: VendorSurroundings, useValue: around },
        ...vendors.flatMap(({ providers }) => [...providers]),
      ],
    }).compile();
    modules.push(module);
    await module.init();
    return module;
  }

  it('gives each port its queue and its worker, and tells which vendor was called', async () => {
    const module = await start(true);
    expect(await module.get(Hens).lay(newCall(), 3)).toEqual({ kind: '3-eggs' });
    expect(await module.get(Cows).milk(newCall())).toEqual({ kind: 'test-milk' });
    expect(await module.get(Cows).milk({ ...newCall(), environment: 'live' })).toEqual({ kind: 'live-milk' });
    expect(called).toEqual([
      ['hens', 'lay', '3-eggs', expect.any(Number)],
      ['cows', 'milk', 'test-milk', expect.any(Number)],
      ['cows', 'milk', 'live-milk', expect.any(Number)],
    ]);
    expect(module.get<Queue>(getQueueToken('hens-test')).defaultJobOptions).toMatchObject({
      attempts: 1,
      removeOnComplete: true,
      removeOnFail: true,
    });
    // The verdict did not go through Redis.
    expect(await processes.connection().info('commandstats')).not.toContain('cmdstat_publish:');
  });

  it('runs one worker a queue, with the configured concurrency', async () => {
    let [running, most] = [0, 0];
    const module = await start(true, async () => {
      most = Math.max(most, ++running);
      await until(() => most >= 7);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { kind: 'egg' };
    });
    await Promise.all(Array.from({ length: 40 }, () => module.get(Hens).lay(newCall(), 1)));
    expect(most).toBe(7);
  });

  it('only asks in a process that runs no worker', async () => {
    const asking = await start(false);
    const verdict = asking.get(Hens).lay(newCall(), 2);
    await until(async () => (await queued.get('hens-test')!()).waiting === 1);
    expect(await queued.get('cows-test')!()).toEqual({ waiting: 0, active: 0, oldestWaitingMs: null });
    await start(true);
    expect(await verdict).toEqual({ kind: '2-eggs' });
  });

  it('lets running calls end before it stops, and those who wait hear of it', async () => {
    let finish: (() => void) | null = null;
    const module = await start(true, () => new Promise((resolve) => (finish = () => resolve({ kind: 'egg' }))));
    const verdict = module.get(Hens).lay(newCall(), 1);
    await until(() => finish !== null);
    const closed = module.close();
    modules.pop();
    setImmediate(() => finish?.());
    expect(await verdict).toEqual({ kind: 'egg' });
    await closed;
  });
});
