// A Redis of its own, processes around it, and receivers in memory, for the tests of the delivery queue.
import { Redis } from 'ioredis';
import { BullMqDeliveryQueue } from '../../../src/adapters/delivery-queue/bullmq.js';
import { Paces, type PaceRules } from '../../../src/adapters/delivery-queue/pace.js';
import {
  DeliveryWorkers,
  type DeliveryWorkersOptions,
  type Perform,
} from '../../../src/adapters/delivery-queue/workers.js';
import { coalesceWrites } from '../../../src/adapters/redis/coalesced-writes.js';
import type { DueDelivery } from '../../../src/ports/delivery-queue.js';
import { RedisServer } from '../../support/redis.js';

/** The receiver's limit, scaled down from seconds. */
export const ATTEMPT_MS = 300;
export const PACE: PaceRules = { fastBelowMs: 50, overdueMs: 100, rememberMs: 60_000 };

/** One process of the service: its side of the queue and, when it is started, its workers. */
export interface Process {
  readonly queue: BullMqDeliveryQueue;
  readonly workers: DeliveryWorkers;
  readonly redis: Redis;
  readonly reclaimed: () => number;
  readonly failed: unknown[];
}

export class Deliveries {
  private readonly cleanups: (() => unknown)[] = [];

  private constructor(readonly server: RedisServer) {}

  static async start(): Promise<Deliveries> {
    return new Deliveries(await RedisServer.start());
  }

  async process(
    perform: Perform,
    options: Partial<DeliveryWorkersOptions> & { readonly limitMs?: number; readonly pace?: Partial<PaceRules> } = {},
  ): Promise<Process> {
    const redis = coalesceWrites(
      new Redis(this.server.url, { maxRetriesPerRequest: null, enableOfflineQueue: false, retryStrategy: () => 20 }),
    );
    redis.on('error', () => undefined);
    await new Promise((resolve) => redis.once('ready', resolve));
    const queue = new BullMqDeliveryQueue(
      redis,
      { attemptMs: ATTEMPT_MS, limitMs: options.limitMs ?? 20_000 },
      new Paces({ ...PACE, ...options.pace }),
    );
    let reclaimed = 0;
    const failed: unknown[] = [];
    const workers = new DeliveryWorkers(
      queue,
      perform,
      { attemptMs: ATTEMPT_MS, ...options },
      {
        reclaimed: (count) => (reclaimed += count),
        failed: (_, error) => failed.push(error),
        troubled: () => undefined,
      },
    );
    this.cleanups.push(
      () => redis.disconnect(),
      () => queue.close(),
      () => workers.close(),
    );
    return { queue, workers, redis, reclaimed: () => reclaimed, failed };
  }

  /** How many jobs each lane holds, whatever their state. */
  async held({ redis }: Process): Promise<{ readonly fast: number; readonly slow: number }> {
    const [fast, slow] = await Promise.all(
      ['webhook-deliveries', 'webhook-deliveries-slow'].map(
        async (lane) => (await redis.keys(`bull:${lane}:*-ladder-*`)).filter((key) => !key.endsWith(':lock')).length,
      ),
    );
    return { fast: fast ?? 0, slow: slow ?? 0 };
  }

  async end(): Promise<void> {
    if (this.server.pid === undefined) await this.server.startAgain();
    for (const cleanup of this.cleanups.reverse()) await cleanup();
    await this.server.stop();
  }
}

let last = 0;

export function delivery(endpointId: string): DueDelivery {
  return { deliveryId: `del_${++last}`, accountId: 'acc_1', endpointId, kind: 'ladder', turn: '1' };
}

export function deliveries(endpointId: string, count: number): DueDelivery[] {
  return Array.from({ length: count }, () => delivery(endpointId));
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

  readonly perform: Perform = async ({ deliveryId, endpointId }) => {
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

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
