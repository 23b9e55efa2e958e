// Pending attempts wait in a line for each endpoint. `dispatcher.ts` makes these attempts in BullMQ jobs.
import type { Queue, QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { machineNow } from '../../kernel/machine-time.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { type Backlog, DeliveryQueue, type DueDelivery } from '../../ports/delivery-queue.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

export const QUEUE = 'webhook-dispatch';

export interface DispatchJobData {
  readonly endpointId: string;
}

export type DispatchQueue = Queue<DispatchJobData>;

/** A job is removed from Redis when it has ended, so that its id can be used again. No process reads the event stream, so it is kept short. */
export const QUEUE_OPTIONS = {
  defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 },
  streams: { events: { maxLen: 100 } },
} as const satisfies Partial<QueueOptions>;

/** Settings that only tests change. */
export abstract class DispatchSettings {
  /** The limit of one exchange with Redis in milliseconds. The default is 5,000. */
  readonly limitMs?: number;
}

/** The key of the set of endpoints that may have a line. Only the backlog reads this set. */
const ENDPOINTS = 'webhook-dispatch:endpoints';
/** An attempt that ended with a fault of the service may have been sent, so the attempt is not repeated for this time, in milliseconds. */
const AFTER_FAULT_MS = 10_000;
/** The retries of an endpoint within this time, in milliseconds, share one job that wakes them. */
const WAKE_EVERY_MS = 100;

/**
 * The line of an endpoint is a sorted set of its attempts by the time when they are due. An attempt stays in the line until it has ended, so a dead
 * worker loses none. The job has the id of its endpoint. BullMQ refuses a second job with the same id, so only one worker serves a line.
 */
export class BullMqDeliveryQueue extends DeliveryQueue {
  /** Endpoints whose job runs in this process. The worker checks the line again at the end of the job. */
  readonly running = new Set<string>();
  private readonly connection: BoundedRedis;

  /** `redis` and `jobs` belong to the caller. `redis` and `jobs` share a connection, which keeps the order of their commands. */
  constructor(
    redis: Redis,
    private readonly jobs: Pick<DispatchQueue, 'add'> & { on(event: 'error', listener: () => void): unknown },
    { limitMs = 5_000 }: DispatchSettings,
  ) {
    super();
    this.connection = new BoundedRedis(redis, limitMs);
    // The callers get the error. BullMQ would print an error event that has no listener.
    jobs.on('error', () => undefined);
  }

  override async enqueue(due: DueDelivery, at: Date, sooner = false): Promise<void> {
    const { endpointId } = due;
    await this.bounded((redis) =>
      Promise.all([
        sooner
          ? redis.zadd(lineOf(endpointId), 'LT', at.getTime(), memberOf(due))
          : redis.zadd(lineOf(endpointId), 'NX', at.getTime(), memberOf(due)),
        this.call(endpointId, at.getTime()),
      ]),
    );
  }

  override backlog(): Promise<Backlog> {
    return this.bounded(async (redis) => {
      const now = machineNow();
      const backlog = { waiting: 0, delayed: 0, oldestDueMs: 0 };
      const counted = (await redis.smembers(ENDPOINTS)).map(async (endpointId) => {
        const line = lineOf(endpointId);
        const [all, waiting, [, oldest]] = await Promise.all([
          redis.zcard(line),
          redis.zcount(line, '-inf', now),
          redis.zrange(line, '0', '0', 'WITHSCORES'),
        ]);
        if (all === 0) {
          await redis.srem(ENDPOINTS, endpointId);
          // The endpoint stays in the set when its line got an attempt in the meantime.
          if ((await redis.zcard(line)) > 0) await redis.sadd(ENDPOINTS, endpointId);
        }
        backlog.waiting += waiting;
        backlog.delayed += all - waiting;
        backlog.oldestDueMs = Math.max(backlog.oldestDueMs, now - Number(oldest ?? now));
      });
      await Promise.all(counted);
      return backlog;
    });
  }

  /** At most `most` due attempts of an endpoint, the oldest first. */
  due(endpointId: string, most: number): Promise<DueDelivery[]> {
    return this.bounded(async (redis) =>
      (await redis.zrangebyscore(lineOf(endpointId), '-inf', machineNow(), 'LIMIT', 0, most)).map((member) =>
        attemptOf(endpointId, member),
      ),
    );
  }

  /** Called when an attempt was made, or ended with a fault. */
  async over(due: DueDelivery, fault: boolean): Promise<void> {
    const { endpointId } = due;
    const [line, member, again] = [lineOf(endpointId), memberOf(due), machineNow() + AFTER_FAULT_MS];
    await this.bounded<unknown>((redis) =>
      fault
        ? Promise.all([redis.zadd(line, 'XX', again, member), this.call(endpointId, again)])
        : redis.zrem(line, member),
    );
  }

  /** Call this at the end of an endpoint's job, because an attempt that arrives during a job adds no job. */
  async callIfDue(endpointId: string): Promise<void> {
    const due = await this.bounded((redis) => redis.zcount(lineOf(endpointId), '-inf', machineNow()));
    if (due > 0) await this.call(endpointId);
  }

  /** Adds the job of the endpoint now, or adds a job that will add it later. */
  async call(endpointId: string, at = 0): Promise<void> {
    const now = machineNow();
    if (at <= now && this.running.has(endpointId)) return;
    const wakeAt = Math.ceil(at / WAKE_EVERY_MS) * WAKE_EVERY_MS;
    await Promise.all([
      this.connection.redis.sadd(ENDPOINTS, endpointId),
      at > now
        ? this.jobs.add('wake', { endpointId }, { jobId: `${endpointId}-at-${wakeAt}`, delay: wakeAt - now })
        : this.jobs.add('dispatch', { endpointId }, { jobId: endpointId }),
    ]);
  }

  private async bounded<Reply>(exchange: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    try {
      return await this.connection.use(exchange);
    } catch (cause) {
      throw new Unavailable('The queue of deliveries cannot be reached', { cause });
    }
  }
}

function lineOf(endpointId: string): string {
  return `webhook-dispatch:due:${endpointId}`;
}

/** Two requests for one attempt make one member of the set. */
function memberOf({ deliveryId, kind, turn }: DueDelivery): string {
  return JSON.stringify([deliveryId, kind, turn]);
}

function attemptOf(endpointId: string, member: string): DueDelivery {
  const [deliveryId, kind, turn] = JSON.parse(member) as [string, DueDelivery['kind'], string];
  return { deliveryId, endpointId, kind, turn };
}
