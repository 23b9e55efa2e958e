// Attempts that are due, in a line for each endpoint, and the BullMQ jobs that work the lines off (by the workers in `dispatcher.ts`).
import type { Queue, QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { Unavailable } from '../../kernel/unavailable.js';
import { type Backlog, DeliveryQueue, type DueDelivery } from '../../ports/delivery-queue.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { type LatencyRules, LatencyTracker, type Standing } from './latency-tracker.js';
import { attemptOf, defineLineScripts, KEYS, lineOf, memberOf } from './lines.js';

export const FAST_QUEUE = 'webhook-dispatch';
export const SLOW_QUEUE = 'webhook-dispatch-slow';

/** The job that sends nothing: see `addWakeUps`. */
export const WAKE_UP = 'wake-up';
const DISPATCH = 'dispatch';

/** A job of an endpoint: sends what is due in the endpoint's line, one after the other. */
export interface DispatchJobData {
  readonly endpointId: string;
}

export type DispatchQueue = Queue<DispatchJobData>;

/** A job is gone from Redis when it is over: the next one of the same id can follow. The event stream is not read, so it is kept short. */
export const QUEUE_OPTIONS = {
  defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 },
  streams: { events: { maxLen: 100 } },
} as const satisfies Partial<QueueOptions>;

/** Jobs of one endpoint at a time, in all processes together: its attempts under way. */
export type ConcurrencyLimits = Readonly<Record<Standing, number>>;

const DEFAULT_LIMITS: ConcurrencyLimits = { fast: 64, unknown: 4, slow: 16 };

/** What tests change. */
export abstract class DispatchSettings {
  readonly limits?: ConcurrencyLimits;
  readonly latency?: Partial<LatencyRules>;
  /** Over one exchange with Redis, milliseconds; default 5,000. */
  readonly limitMs?: number;
}

/** What is asked for in one turn of the event loop. */
interface Packet {
  readonly due: { readonly delivery: DueDelivery; readonly at: number }[];
  readonly stored: Promise<void>;
}

const MAX_IN_PACKET = 250;
/** Jobs that wait for a retry are one for all retries of an endpoint that fall into such a time, milliseconds. */
const WAKE_EVERY_MS = 100;

/**
 * Redis holds an endpoint's attempts in a sorted set, its line, by the time when they are due. BullMQ holds jobs for as many of them as the endpoint
 * may have under way at once, so that neither a worker's memory nor its concurrency fills with the attempts of one endpoint. The
 * limit holds for all processes together, because a job's id is its endpoint's id and a number below the limit.
 */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly connection: BoundedRedis;
  private readonly limits: ConcurrencyLimits;
  /** What the workers of this process learn. */
  readonly latency: LatencyTracker;
  private packet: Packet | null = null;
  private readonly refills = { waiting: new Map<string, Promise<void>>(), running: new Map<string, Promise<void>>() };

  /** `redis` and the queues are the caller's. */
  constructor(
    redis: Redis,
    private readonly fast: DispatchQueue,
    private readonly slow: DispatchQueue,
    { limits = DEFAULT_LIMITS, latency = {}, limitMs = 5_000 }: DispatchSettings,
  ) {
    super();
    defineLineScripts(redis);
    this.connection = new BoundedRedis(redis, limitMs);
    this.limits = limits;
    this.latency = new LatencyTracker(latency);
    // The callers are told; an error event without a listener would be printed.
    for (const queue of [fast, slow]) queue.on('error', () => undefined);
  }

  override enqueue(delivery: DueDelivery, at: Date): Promise<void> {
    if (this.packet === null || this.packet.due.length >= MAX_IN_PACKET) this.packet = this.openPacket();
    this.packet.due.push({ delivery, at: at.getTime() });
    return this.packet.stored;
  }

  override backlog(): Promise<Backlog> {
    return this.bounded(async (redis) => {
      const now = Date.now();
      const [all, waiting, active, [, oldest]] = await Promise.all([
        redis.zcard(KEYS.all),
        redis.zcount(KEYS.all, '-inf', String(now)),
        redis.hlen(KEYS.claimed),
        redis.zrange(KEYS.all, '0', '0', 'WITHSCORES'),
      ]);
      return { waiting, delayed: all - waiting, active, oldestDueMs: Math.max(0, now - Number(oldest ?? now)) };
    });
  }

  /**
   * The next attempt of an endpoint that is due, claimed by a job; null when there is none. A job that begins gets what it had
   * claimed before: then its worker has died. A claim ends with the next one.
   */
  claim(jobId: string, endpointId: string, begins: boolean): Promise<DueDelivery | null> {
    return this.bounded(async (redis) => {
      const member = await redis.claimDueAttempt(
        KEYS.all,
        lineOf(endpointId),
        KEYS.claimed,
        jobId,
        String(Date.now()),
        begins ? 'begins' : '',
      );
      return member === null ? null : attemptOf(endpointId, member);
    });
  }

  /** Before a job ends: the next one of its id must not find the claim. */
  endClaim(jobId: string): Promise<void> {
    return this.bounded(async (redis) => void (await redis.hdel(KEYS.claimed, jobId)));
  }

  /** Adds jobs for what is due in an endpoint's line. A caller that asks while a refill of the line waits for the one before it shares it. */
  refill(endpointId: string): Promise<void> {
    const { waiting, running } = this.refills;
    let refill = waiting.get(endpointId);
    if (refill !== undefined) return refill;
    refill = (running.get(endpointId) ?? Promise.resolve()).then(() => {
      waiting.delete(endpointId);
      const added = this.bounded((redis) => this.addJobs(redis, endpointId));
      const over = added.then(
        () => undefined,
        () => undefined,
      );
      running.set(endpointId, over);
      void over.then(() => running.get(endpointId) === over && running.delete(endpointId));
      return added;
    });
    waiting.set(endpointId, refill);
    return refill;
  }

  private openPacket(): Packet {
    const due: Packet['due'] = [];
    const stored = new Promise<void>((resolve, reject) => {
      // Closed and sent when the event loop has gone once round.
      setImmediate(() => {
        if (this.packet?.due === due) this.packet = null;
        this.store(due).then(resolve, reject);
      });
    });
    return { due, stored };
  }

  private async store(due: Packet['due']): Promise<void> {
    const lines = new Map<string, (string | number)[]>();
    for (const { delivery, at } of due) {
      const line = lines.get(delivery.endpointId);
      if (line === undefined) lines.set(delivery.endpointId, [at, memberOf(delivery)]);
      else line.push(at, memberOf(delivery));
    }
    await this.bounded(async (redis) => {
      const add = redis.multi().zadd(KEYS.all, 'NX', ...[...lines.values()].flat());
      for (const [endpointId, line] of lines) add.zadd(lineOf(endpointId), 'NX', ...line);
      await add.exec();
      await this.addWakeUps(due);
    });
    await Promise.all([...lines.keys()].map((endpointId) => this.refill(endpointId)));
  }

  /** As many as the endpoint may have more, for as many attempts as are due. */
  private async addJobs(redis: Redis, endpointId: string): Promise<void> {
    const standing = this.latency.standing(endpointId);
    const free = await redis.freeDispatchJobs(
      lineOf(endpointId),
      KEYS.claimed,
      String(Date.now()),
      String(this.limits[standing]),
      endpointId,
      this.fast.toKey(''),
      this.slow.toKey(''),
    );
    if (free.length === 0) return;
    const queue = standing === 'slow' ? this.slow : this.fast;
    await queue.addBulk(free.map((jobId) => ({ name: DISPATCH, data: { endpointId }, opts: { jobId } })));
  }

  /** Jobs that only see to it that there are jobs for what has come due. */
  private async addWakeUps(due: Packet['due']): Promise<void> {
    const now = Date.now();
    const wakeUps = new Map<string, { readonly endpointId: string; readonly delay: number }>();
    for (const { delivery, at } of due) {
      if (at <= now) continue;
      const wakeAt = Math.ceil(at / WAKE_EVERY_MS) * WAKE_EVERY_MS;
      wakeUps.set(`${delivery.endpointId}-at-${wakeAt}`, { endpointId: delivery.endpointId, delay: wakeAt - now });
    }
    if (wakeUps.size === 0) return;
    await this.fast.addBulk(
      [...wakeUps].map(([jobId, { endpointId, delay }]) => ({
        name: WAKE_UP,
        data: { endpointId },
        opts: { jobId, delay },
      })),
    );
  }

  private async bounded<Reply>(exchange: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    try {
      return await this.connection.use(exchange);
    } catch (cause) {
      throw new Unavailable('The queue of deliveries cannot be reached', { cause });
    }
  }
}
