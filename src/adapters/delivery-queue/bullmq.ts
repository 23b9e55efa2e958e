// Attempts that are due, in a line for each endpoint, and the BullMQ jobs that work the lines off (by the workers in `dispatcher.ts`).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queue, QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { Unavailable } from '../../kernel/unavailable.js';
import { type Backlog, DeliveryQueue, type DueDelivery } from '../../ports/delivery-queue.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { type LatencyRules, LatencyTracker, type Standing } from './latency-tracker.js';
import { attemptOf, defineLineScripts, KEYS, lineOf, memberOf, membersIn } from './lines.js';

export const FAST_QUEUE = 'webhook-dispatch';
export const SLOW_QUEUE = 'webhook-dispatch-slow';

/** The job that sends nothing: see `wakeUpsFor`. */
export const WAKE_UP = 'wake-up';
const DISPATCH = 'dispatch';

/** A job of an endpoint: sends what is due in the endpoint's line. */
export interface DispatchJobData {
  readonly endpointId: string;
}

export type DispatchQueue = Queue<DispatchJobData>;

/** A job is gone from Redis when it is over: the next one of the same id can follow. The event stream is not read, so it is kept short. */
export const QUEUE_OPTIONS = {
  defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 },
  streams: { events: { maxLen: 100 } },
} as const satisfies Partial<QueueOptions>;

/** Attempts of one endpoint that are under way at a time, in all processes together. */
export type ConcurrencyLimits = Readonly<Record<Standing, number>>;

const DEFAULT_LIMITS: ConcurrencyLimits = { fast: 64, unknown: 4, slow: 16 };
/** Attempts that a job of a fast endpoint makes at once. A job of another makes one, because it may take long. */
const TOGETHER = 8;

/** What tests change. */
export abstract class DispatchSettings {
  readonly limits?: ConcurrencyLimits;
  readonly latency?: Partial<LatencyRules>;
  /** Over one exchange with Redis, milliseconds; default 5,000. */
  readonly limitMs?: number;
}

/** What one exchange tells Redis of an endpoint's line. */
interface Refill {
  readonly due: { readonly delivery: DueDelivery; readonly at: number }[];
  readonly done: Promise<void>;
}

const MAX_IN_EXCHANGE = 250;
/** Jobs that wait for a retry are one for all retries of an endpoint that fall into such a time, milliseconds. */
const WAKE_EVERY_MS = 100;

/**
 * Redis holds an endpoint's attempts in a sorted set, its line, by the time when they are due. BullMQ holds no more jobs of an endpoint than
 * make as many attempts at once as it may have under way, so that neither a worker's memory nor its concurrency fills with the attempts of
 * one endpoint. The limit holds for all processes together, because a job's id is its endpoint's id and a number.
 */
export class BullMqDeliveryQueue extends DeliveryQueue {
  private readonly connection: BoundedRedis;
  private readonly limits: ConcurrencyLimits;
  /** What the workers of this process learn. */
  readonly latency: LatencyTracker;
  private readonly waiting = new Map<string, Refill>();
  private readonly running = new Map<string, Promise<void>>();

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
    const { due, done } = this.refillOf(delivery.endpointId);
    due.push({ delivery, at: at.getTime() });
    return done;
  }

  override backlog(): Promise<Backlog> {
    return this.bounded(async (redis) => {
      const now = Date.now();
      const [all, waiting, claims, [, oldest]] = await Promise.all([
        redis.zcard(KEYS.all),
        redis.zcount(KEYS.all, '-inf', String(now)),
        redis.hvals(KEYS.claimed),
        redis.zrange(KEYS.all, '0', '0', 'WITHSCORES'),
      ]);
      const active = claims.flatMap(membersIn).length;
      return { waiting, delayed: all - waiting, active, oldestDueMs: Math.max(0, now - Number(oldest ?? now)) };
    });
  }

  /**
   * How many attempts a job of an endpoint makes at once. None, but for what its dead worker left, where another process has added more jobs
   * than a fast endpoint may have: it finds the endpoint slow.
   */
  together(jobId: string, endpointId: string): number {
    const standing = this.latency.standing(endpointId);
    if (standing !== 'fast') return 1;
    const number = Number(jobId.slice(endpointId.length + 1));
    return number > this.jobsOf('fast') ? 0 : this.togetherOf('fast');
  }

  /**
   * Attempts of an endpoint that are due, at most so many, claimed by a job beside those that it has under way. A job that begins (`null`) gets
   * what it had claimed before: then its worker has died.
   */
  claim(
    jobId: string,
    endpointId: string,
    most: number,
    underWay: readonly DueDelivery[] | null,
  ): Promise<readonly DueDelivery[]> {
    return this.bounded(async (redis) => {
      const claimed = await redis.claimDueAttempts(
        KEYS.all,
        lineOf(endpointId),
        KEYS.claimed,
        jobId,
        String(Date.now()),
        String(most),
        underWay === null ? 'begins' : '',
        ...(underWay ?? []).map(memberOf),
      );
      return membersIn(claimed).map((member) => attemptOf(endpointId, member));
    });
  }

  /** Before a job ends: the next one of its id must not find the claim. */
  endClaim(jobId: string): Promise<void> {
    return this.bounded(async (redis) => void (await redis.hdel(KEYS.claimed, jobId)));
  }

  /** Adds jobs for what is due in an endpoint's line. */
  refill(endpointId: string): Promise<void> {
    return this.refillOf(endpointId).done;
  }

  /** What is asked for in one turn of the event loop, and while an exchange for the same line is under way, goes together. */
  private refillOf(endpointId: string): Refill {
    const { waiting, running } = this;
    let refill = waiting.get(endpointId);
    if (refill !== undefined) return refill;
    const due: Refill['due'] = [];
    const done = (running.get(endpointId) ?? nextTurn()).then(() => {
      waiting.delete(endpointId);
      const made = this.bounded((redis) => this.exchange(redis, endpointId, due));
      const ended = made.then(
        () => undefined,
        () => undefined,
      );
      running.set(endpointId, ended);
      void ended.then(() => running.get(endpointId) === ended && running.delete(endpointId));
      return made;
    });
    refill = { due, done };
    waiting.set(endpointId, refill);
    return refill;
  }

  private async exchange(redis: Redis, endpointId: string, due: Refill['due']): Promise<void> {
    for (let first = 0; first === 0 || first < due.length; first += MAX_IN_EXCHANGE) {
      const some = due.slice(first, first + MAX_IN_EXCHANGE);
      const standing = this.latency.standing(endpointId);
      const now = Date.now();
      const free = await redis.lineUpAttempts(
        KEYS.all,
        lineOf(endpointId),
        KEYS.claimed,
        String(now),
        String(this.jobsOf(standing)),
        String(this.togetherOf(standing)),
        endpointId,
        this.fast.toKey(''),
        this.slow.toKey(''),
        ...some.flatMap(({ delivery, at }) => [String(at), memberOf(delivery)]),
      );
      const jobs = free.map((jobId) => ({ name: DISPATCH, data: { endpointId }, opts: { jobId } }));
      const wakeUps = wakeUpsFor(endpointId, some, now);
      if (standing !== 'slow') jobs.push(...wakeUps);
      else if (wakeUps.length > 0) await this.fast.addBulk(wakeUps);
      if (jobs.length > 0) await (standing === 'slow' ? this.slow : this.fast).addBulk(jobs);
    }
  }

  private jobsOf(standing: Standing): number {
    return Math.ceil(this.limits[standing] / this.togetherOf(standing));
  }

  private togetherOf(standing: Standing): number {
    return standing === 'fast' ? Math.min(TOGETHER, this.limits.fast) : 1;
  }

  private async bounded<Reply>(exchange: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    try {
      return await this.connection.use(exchange);
    } catch (cause) {
      throw new Unavailable('The queue of deliveries cannot be reached', { cause });
    }
  }
}

/** Jobs that only see to it that there are jobs for what has come due. */
function wakeUpsFor(
  endpointId: string,
  due: Refill['due'],
  /** As of which the others are due. */
  now: number,
): { name: string; data: DispatchJobData; opts: { jobId: string; delay?: number } }[] {
  const times = new Set(
    due.filter(({ at }) => at > now).map(({ at }) => Math.ceil(at / WAKE_EVERY_MS) * WAKE_EVERY_MS),
  );
  return [...times].map((wakeAt) => ({
    name: WAKE_UP,
    data: { endpointId },
    opts: { jobId: `${endpointId}-at-${wakeAt}`, delay: wakeAt - now },
  }));
}
