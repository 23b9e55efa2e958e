// Processes of the application and of workers around one Redis of their own, each with connections of its own, for the tests of queued calls.
import { randomBytes } from 'node:crypto';
import { Queue, type Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import { type CallQueue, type Calls, CallSettings, queueOptions } from '../../../src/adapters/queued-calls/queue.js';
import {
  type CallObserver,
  CallWorker,
  runCallWorker,
  type WorkerPatience,
} from '../../../src/adapters/queued-calls/worker.js';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import type { DiskVault } from '../../../src/adapters/vault/disk.js';
import { type Clock, SystemClock } from '../../../src/kernel/clock.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';

export interface ConnectionOptions {
  readonly enableOfflineQueue?: boolean;
}

export interface WorkerProcess<Port> {
  readonly clock?: Clock;
  readonly settings?: CallSettings;
  readonly options?: ConnectionOptions;
  /** The application's side where it shares the worker's process. */
  readonly nearby?: QueuedCalls<Port> | undefined;
  readonly patience?: WorkerPatience;
  readonly redis?: Redis;
  readonly payloads?: RedisSealedPayloads;
}

export class Processes {
  readonly masterKeys = `k:${randomBytes(32).toString('base64')}`;
  readonly vaults = new Vaults();
  private vault: DiskVault | null = null;
  /** Lines of errors that workers logged. */
  readonly logged: string[] = [];
  /** What workers measured. */
  readonly measured: Parameters<CallObserver>[] = [];
  /** Run in reverse order by `end`. */
  readonly cleanups: (() => unknown)[] = [];
  private readonly workers: Worker[] = [];

  private constructor(readonly server: RedisServer) {}

  static async start(): Promise<Processes> {
    return new Processes(await RedisServer.start());
  }

  connection(options: ConnectionOptions = {}): Redis {
    const redis = new Redis(this.server.url, { maxRetriesPerRequest: null, retryStrategy: () => 20, ...options });
    redis.on('error', () => undefined);
    this.cleanups.push(() => redis.disconnect());
    return redis;
  }

  payloads(redis: Redis): RedisSealedPayloads {
    return new RedisSealedPayloads(redis, (this.vault ??= this.vaults.open(this.masterKeys)));
  }

  /** One process of the application. */
  async caller<Port>(
    queue: CallQueue<Port>,
    timeoutMs = 5_000,
    options: ConnectionOptions = {},
  ): Promise<QueuedCalls<Port>> {
    const redis = this.connection(options);
    const jobs = new Queue(queue.name, { ...queueOptions(queue.name), connection: redis });
    jobs.on('error', () => undefined);
    const calls = new QueuedCalls(
      queue,
      jobs,
      redis,
      this.payloads(redis),
      new SystemClock(),
      new CallSettings(timeoutMs),
    );
    this.cleanups.push(
      () => jobs.close(),
      () => calls.onApplicationShutdown(),
    );
    await jobs.waitUntilReady();
    return calls;
  }

  /** One process of workers. */
  async worker<Port>(
    queue: CallQueue<Port>,
    real: Calls<Port>,
    { clock, settings, options, nearby, patience, redis, payloads }: WorkerProcess<Port> = {},
  ): Promise<Worker> {
    const connection = redis ?? this.connection(options);
    const host = new CallWorker(
      queue,
      real,
      connection,
      payloads ?? this.payloads(connection),
      clock ?? new SystemClock(),
      settings ?? new CallSettings(5_000),
      (...seen) => this.measured.push(seen),
      nearby,
    );
    Object.assign(host, { logger: { warn: () => undefined, error: (line: string) => this.logged.push(line) } });
    const started = runCallWorker(host, connection, patience ?? { drainDelay: 0.2 });
    this.cleanups.push(() => started.close(true));
    this.workers.push(started);
    await started.waitUntilReady();
    return started;
  }

  async end(): Promise<void> {
    // BullMQ closes at once only what is connected.
    if (this.server.pid === undefined) {
      await this.server.startAgain();
      for (const open of this.workers.filter(({ closing }) => closing === undefined))
        await until(async () => (await open.getBackend().blockingClient)?.status === 'ready');
    }
    for (const cleanup of this.cleanups.reverse()) await cleanup();
    await this.server.stop();
    await this.vaults.close();
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
