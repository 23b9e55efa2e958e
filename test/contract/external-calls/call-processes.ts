// Application and worker processes around one Redis, for the tests of external calls.
import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import type { AttemptRecovery } from '../../../src/external-calls/attempt-recovery.js';
import { CallWorkers, type NearbyCallers, type WorkerPatience } from '../../../src/external-calls/call-workers.js';
import type { ExternalCall } from '../../../src/external-calls/external-call.js';
import { QueuedExternalCalls } from '../../../src/external-calls/queued-external-calls.js';
import { VendorPlaces } from '../../../src/external-calls/vendor-places.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import type { Vault } from '../../../src/ports/vault.js';
import type { VendorLimits, Vendors } from '../../../src/ports/vendors.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';
import { clockOf } from '../../support/clock.js';

/** The installed vendors: two for identity. */
const VENDORS: Pick<Vendors, 'offering' | 'limitsOf'> = {
  offering: (capability) => (capability === 'identity' ? ['idv', 'acme'] : []),
  limitsOf: () => ({}),
};

/** The number of calls to one vendor in one environment that a worker runs at once. */
export const SLOTS = 8;

interface WorkerProcess {
  /** Without this part, callers do not wait in this process. */
  readonly nearby?: NearbyCallers;
  /** The number of milliseconds by which the process's clock is ahead. */
  readonly aheadMs?: number;
  readonly timeoutMs?: number;
  readonly concurrency?: number;
  /** The limits of the vendor acme. */
  readonly acme?: VendorLimits;
  readonly drainMs?: number;
  readonly patience?: WorkerPatience;
  readonly redis?: Redis;
  readonly vault?: Vault;
}

export class CallProcesses {
  private readonly vaults = new Vaults();
  private readonly vault = this.vaults.open(`k:${randomBytes(32).toString('base64')}`);
  private readonly cleanups: (() => unknown)[] = [];

  private constructor(
    readonly server: RedisServer,
    private readonly owned: boolean,
  ) {}

  static async start(): Promise<CallProcesses> {
    return new CallProcesses(await RedisServer.start(), true);
  }

  /** Uses a Redis that outlives the processes. The processes leave this Redis empty. */
  static around(server: RedisServer): CallProcesses {
    return new CallProcesses(server, false);
  }

  async connection(): Promise<Redis> {
    const redis = new Redis(this.server.url, {
      maxRetriesPerRequest: null,
      enableOfflineQueue: false,
      retryStrategy: () => 20,
      lazyConnect: false,
    });
    redis.on('error', () => undefined);
    this.cleanups.push(() => redis.disconnect());
    await until('the connection is ready', () => redis.status === 'ready');
    return redis;
  }

  /**
   * One process of the application. `share` is the limit of an account's simultaneous calls, and 0 means no limit. By
   * default, a stalled machine does not count as an absent Redis. A test of an absent Redis shortens `redisAwayMs`.
   */
  async caller({
    timeoutMs = 5_000,
    share = 0,
    perLineage = 0,
    slots = 1_000,
    waitMs = 0,
    redisAwayMs = 30_000,
    reservedWithinMs = 60_000,
  } = {}): Promise<QueuedExternalCalls> {
    const redis = await this.connection();
    const calls = new QueuedExternalCalls(
      redis,
      new RedisSealedPayloads(redis, this.vault),
      new VendorPlaces(
        redis,
        { limit: share, perLineage, slots, waitMs, ttlMs: timeoutMs, reservedWithinMs },
        () => undefined,
        redisAwayMs,
      ),
      new SystemClock(),
      () => ({ timeoutMs, concurrency: SLOTS }),
      VENDORS,
      redisAwayMs,
    );
    this.cleanups.push(() => calls.onApplicationShutdown());
    return calls;
  }

  /** One process that makes the calls to vendors. */
  async worker(
    kinds: readonly (ExternalCall<never> | AttemptRecovery)[],
    { nearby, aheadMs = 0, timeoutMs = 5_000, concurrency = SLOTS, drainMs = 1_000, ...process }: WorkerProcess = {},
  ): Promise<CallWorkers> {
    const { acme = {} } = process;
    const redis = process.redis ?? (await this.connection());
    const workers = new CallWorkers(
      redis,
      new RedisSealedPayloads(redis, process.vault ?? this.vault),
      clockOf(() => new Date(Date.now() + aheadMs)),
      () => ({ timeoutMs, concurrency }),
      { ...VENDORS, limitsOf: (vendor) => (vendor === 'acme' ? acme : {}) },
      () => kinds as readonly (ExternalCall | AttemptRecovery)[],
      nearby ?? { name: randomUUID(), over: () => undefined },
      { drainDelay: 0.2, drainMs, ...process.patience },
    );
    workers.onModuleInit();
    workers.start();
    this.cleanups.push(() => workers.stop());
    return workers;
  }

  /** Erases the person who has this subject. */
  erase(subject: string): Promise<void> {
    return this.vault.erase(subject);
  }

  async end(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    await (this.owned ? this.server.stop() : this.server.flush());
    await this.vaults.close();
  }
}
