// A Redis, several processes that use it, and receivers in memory, for the tests of the delivery queue.
import { Processor } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { BullMqDeliveryQueue, DispatchSettings, QUEUE } from '../../../src/adapters/delivery-queue/bullmq.js';
import {
  DeliveryQueueModule,
  DeliveryWorkersModule,
} from '../../../src/adapters/delivery-queue/delivery-queue.module.js';
import { AttemptRunner, Dispatcher, WORKER_OPTIONS } from '../../../src/adapters/delivery-queue/dispatcher.js';
import { Limits } from '../../../src/config/limits.js';
import { ProcessSettings } from '../../../src/config/process.js';
import { Log } from '../../../src/platform/observability/log.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import type { DueDelivery } from '../../../src/ports/delivery-queue.js';
import { RedisServer } from '../../support/redis.js';

/** The time limit of a receiver. The limit is shorter than in the service. */
export const ATTEMPT_MS = 300;
/** A killed worker is noticed sooner than in the service. */
const IMPATIENT = { ...WORKER_OPTIONS, lockDuration: 2_000, stalledInterval: 500 };

/** The wait for an absent Redis is shorter than in the service. */
const CLOSING_MS = 500;

@Module({})
class Surroundings {}

@Processor(QUEUE, IMPATIENT)
class ImpatientDispatcher extends Dispatcher {
  protected override readonly closingMs = CLOSING_MS;
  override jobMs = 10_000;
  override restMs = 1_000;
}

/** One process of the service: its side of the queue and, when started, its worker. */
export interface Process {
  readonly queue: BullMqDeliveryQueue;
  readonly worker: Dispatcher;
  readonly redis: Redis;
  readonly reclaimed: () => number;
  readonly failed: unknown[];
  close(): Promise<void>;
}

export interface ProcessOptions extends DispatchSettings {
  /** The number of endpoints that the worker serves at once. */
  readonly concurrency?: number;
  /**
   * The time for which a job begins attempts, and the time for which a job keeps its place after an error, in
   * milliseconds.
   */
  readonly times?: { readonly jobMs?: number; readonly restMs?: number };
  readonly attempts?: Partial<AttemptRunner>;
}

export async function startProcess(
  redisUrl: string,
  make: AttemptRunner['run'],
  { concurrency = 1_024, times, attempts, ...options }: ProcessOptions = {},
): Promise<Process> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null, enableOfflineQueue: false, retryStrategy: () => 20 });
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
    .useValue({ limitMs: 20_000, ...options } satisfies DispatchSettings)
    .overrideProvider(AttemptRunner)
    .useValue(runner)
    .overrideProvider(Dispatcher)
    .useClass(ImpatientDispatcher)
    .compile();
  await module.init();
  const worker = module.get(Dispatcher);
  Object.assign(worker, times);
  worker.worker.concurrency = concurrency;
  return {
    queue: module.get(BullMqDeliveryQueue),
    worker,
    redis,
    reclaimed: () => reclaimed,
    failed,
    close: async () => {
      await worker.close();
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

  /** The number of jobs in the queue, in every state. */
  async jobs({ redis }: Process): Promise<number> {
    return (await redis.keys(`bull:${QUEUE}:*`)).filter(
      (key) => !/:(lock|meta|events|id|marker|stalled|stalled-check|active|wait|delayed)$/.test(key),
    ).length;
  }

  /** Ends the processes of a test, and removes their data from Redis. */
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

/** Endpoints that answer after a time, and a record of the requests to them. */
export class Receivers {
  /** The ids of deliveries, in the order in which they ended. */
  readonly answered: string[] = [];
  readonly startedAt = new Map<string, number>();
  readonly attempts = new Map<string, number>();
  private readonly underWay = new Map<string, number>();
  private readonly most = new Map<string, number>();

  /** The time after which an endpoint answers, in milliseconds. A time equal to the receiver's limit is a timeout. */
  constructor(public latencyMs: (endpointId: string) => number) {}

  /** The promise that an attempt awaits before its answer, or null. */
  hold: (due: DueDelivery) => Promise<void> | null = () => null;

  readonly perform: AttemptRunner['run'] = async (due) => {
    const { deliveryId, endpointId } = due;
    this.startedAt.set(deliveryId, Date.now());
    this.attempts.set(deliveryId, (this.attempts.get(deliveryId) ?? 0) + 1);
    const now = (this.underWay.get(endpointId) ?? 0) + 1;
    this.underWay.set(endpointId, now);
    this.most.set(endpointId, Math.max(now, this.mostAtOnce(endpointId)));
    await this.hold(due);
    const latencyMs = Math.min(this.latencyMs(endpointId), ATTEMPT_MS);
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    this.underWay.set(endpointId, (this.underWay.get(endpointId) ?? 0) - 1);
    this.answered.push(deliveryId);
    return { timedOut: latencyMs >= ATTEMPT_MS, outcome: 'SUCCESS' };
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
