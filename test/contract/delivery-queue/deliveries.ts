// A Redis of its own, processes around it, and receivers in memory, for the tests of the delivery queue.
import { Processor } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  BullMqDeliveryQueue,
  DispatchSettings,
  FAST_QUEUE,
  SLOW_QUEUE,
} from '../../../src/adapters/delivery-queue/bullmq.js';
import {
  DeliveryQueueModule,
  DeliveryWorkers,
  DeliveryWorkersModule,
} from '../../../src/adapters/delivery-queue/delivery-queue.module.js';
import {
  AttemptRunner,
  FastDispatcher,
  SlowDispatcher,
  WORKER_OPTIONS,
} from '../../../src/adapters/delivery-queue/dispatcher.js';
import { Limits } from '../../../src/config/limits.js';
import { ProcessSettings } from '../../../src/config/process.js';
import { Log } from '../../../src/platform/observability/log.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import type { LatencyRules } from '../../../src/adapters/delivery-queue/latency-tracker.js';
import { coalesceWrites } from '../../../src/adapters/redis/coalesced-writes.js';
import type { DueDelivery } from '../../../src/ports/delivery-queue.js';
import { RedisServer } from '../../support/redis.js';

/** The receiver's limit, scaled down from seconds. */
export const ATTEMPT_MS = 300;
export const LATENCY: LatencyRules = { fastBelowMs: 50, overdueMs: 100, rememberMs: 60_000 };
/** A worker that is killed is missed sooner than in the service. */
const IMPATIENT = { ...WORKER_OPTIONS, lockDuration: 2_000, stalledInterval: 500, concurrency: 1_024 };

/** A Redis that is away is not waited for as long as in the service. */
const CLOSING_MS = 500;

@Module({})
class Surroundings {}

@Processor(FAST_QUEUE, IMPATIENT)
class ImpatientFastDispatcher extends FastDispatcher {
  protected override readonly closingMs = CLOSING_MS;
}

@Processor(SLOW_QUEUE, IMPATIENT)
class ImpatientSlowDispatcher extends SlowDispatcher {
  protected override readonly closingMs = CLOSING_MS;
}

/** One process of the service: its side of the queue and, when it is started, its workers. */
export interface Process {
  readonly queue: BullMqDeliveryQueue;
  readonly workers: DeliveryWorkers;
  readonly redis: Redis;
  readonly reclaimed: () => number;
  readonly failed: unknown[];
  close(): Promise<void>;
}

export interface ProcessOptions extends DispatchSettings {
  /** Jobs that the workers take at once. */
  readonly concurrency?: { readonly fast: number; readonly slow: number };
  readonly attempts?: Partial<AttemptRunner>;
}

export async function startProcess(
  redisUrl: string,
  make: AttemptRunner['run'],
  { concurrency = { fast: 1_024, slow: 64 }, attempts, ...options }: ProcessOptions = {},
): Promise<Process> {
  const redis = coalesceWrites(
    new Redis(redisUrl, { maxRetriesPerRequest: null, enableOfflineQueue: false, retryStrategy: () => 20 }),
  );
  redis.on('error', () => undefined);
  await new Promise((resolve) => redis.once('ready', resolve));
  let reclaimed = 0;
  const failed: unknown[] = [];
  const runner: AttemptRunner = {
    limitMs: ATTEMPT_MS + 5_000,
    run: make,
    reclaimed: () => reclaimed++,
    failed: (_, error) => failed.push(error),
    troubled: () => undefined,
    ...attempts,
  };
  const surroundings = [
    { provide: Redis, useValue: redis },
    { provide: ProcessSettings, useValue: { role: 'projector' } },
    { provide: Limits, useValue: null },
    { provide: Metrics, useValue: new Metrics() },
    { provide: Log, useValue: null },
  ];
  const module = await Test.createTestingModule({
    imports: [
      {
        module: Surroundings,
        global: true,
        providers: surroundings,
        exports: surroundings.map(({ provide }) => provide),
      },
      DeliveryQueueModule,
      DeliveryWorkersModule,
    ],
  })
    .overrideProvider(DispatchSettings)
    .useValue({ limitMs: 20_000, ...options, latency: { ...LATENCY, ...options.latency } } satisfies DispatchSettings)
    .overrideProvider(AttemptRunner)
    .useValue(runner)
    .overrideProvider(FastDispatcher)
    .useClass(ImpatientFastDispatcher)
    .overrideProvider(SlowDispatcher)
    .useClass(ImpatientSlowDispatcher)
    .compile();
  await module.init();
  module.get(FastDispatcher).worker.concurrency = concurrency.fast;
  module.get(SlowDispatcher).worker.concurrency = concurrency.slow;
  const workers = module.get(DeliveryWorkers);
  return {
    queue: module.get(BullMqDeliveryQueue),
    workers,
    redis,
    reclaimed: () => reclaimed,
    failed,
    close: async () => {
      await workers.close();
      await module.close();
      redis.disconnect();
    },
  };
}

export class Deliveries {
  private readonly processes: Process[] = [];

  private constructor(readonly server: RedisServer) {}

  static async start(): Promise<Deliveries> {
    return new Deliveries(await RedisServer.start());
  }

  async process(make: AttemptRunner['run'], options: ProcessOptions = {}): Promise<Process> {
    const made = await startProcess(this.server.url, make, options);
    this.processes.push(made);
    return made;
  }

  /** How many jobs each queue holds, whatever their state. */
  async jobs({ redis }: Process): Promise<{ readonly fast: number; readonly slow: number }> {
    const [fast, slow] = await Promise.all(
      [FAST_QUEUE, SLOW_QUEUE].map(
        async (queue) => (await redis.keys(`bull:${queue}:*-[0-9]*`)).filter((key) => !key.endsWith(':lock')).length,
      ),
    );
    return { fast: fast ?? 0, slow: slow ?? 0 };
  }

  /** Ends the processes of a test, and forgets what they left in Redis. */
  async clear(): Promise<void> {
    if (this.server.pid === undefined) await this.server.startAgain();
    await Promise.all(this.processes.splice(0).map((one) => one.close()));
    await this.server.flush();
  }

  end(): Promise<void> {
    return this.server.stop();
  }
}

let last = 0;

export function delivery(endpointId: string): DueDelivery {
  return { deliveryId: `del_${++last}`, endpointId, kind: 'ladder', turn: '1' };
}

export function deliveries(endpointId: string, count: number): DueDelivery[] {
  return Array.from({ length: count }, () => delivery(endpointId));
}

export function enqueueAll({ queue }: Process, jobs: readonly DueDelivery[]): Promise<unknown> {
  const at = new Date();
  return Promise.all(jobs.map((job) => queue.enqueue(job, at)));
}

/** Endpoints that answer after a time, and what they saw. */
export class Receivers {
  /** Delivery ids, in the order of their ends. */
  readonly answered: string[] = [];
  readonly startedAt = new Map<string, number>();
  readonly attempts = new Map<string, number>();
  private readonly underWay = new Map<string, number>();
  private readonly most = new Map<string, number>();

  /** Milliseconds after which an endpoint answers; what takes the receiver's limit is a time-out. */
  constructor(public latencyMs: (endpointId: string) => number) {}

  readonly perform: AttemptRunner['run'] = async ({ deliveryId, endpointId }) => {
    this.startedAt.set(deliveryId, Date.now());
    this.attempts.set(deliveryId, (this.attempts.get(deliveryId) ?? 0) + 1);
    const now = (this.underWay.get(endpointId) ?? 0) + 1;
    this.underWay.set(endpointId, now);
    this.most.set(endpointId, Math.max(now, this.mostAtOnce(endpointId)));
    const latencyMs = Math.min(this.latencyMs(endpointId), ATTEMPT_MS);
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    this.underWay.set(endpointId, (this.underWay.get(endpointId) ?? 0) - 1);
    this.answered.push(deliveryId);
    return { latencyMs, timedOut: latencyMs >= ATTEMPT_MS };
  };

  mostAtOnce(endpointId: string): number {
    return this.most.get(endpointId) ?? 0;
  }

  forgetMost(): void {
    this.most.clear();
  }

  got(jobs: readonly DueDelivery[]): boolean {
    const ended = new Set(this.answered);
    return jobs.every(({ deliveryId }) => ended.has(deliveryId));
  }
}
