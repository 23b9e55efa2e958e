// Takes deliveries that are due from both lanes and has the attempts made.
import { DelayedError, type Job, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { DueDelivery } from '../../ports/delivery-queue.js';
import { coalesceWrites } from '../redis/coalesced-writes.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { AbsentJobs } from './absent-jobs.js';
import type { BullMqDeliveryQueue } from './bullmq.js';
import { type DeliveryJobData, jobIdOf, LANES, type LaneName } from './lanes.js';
import { type Running, type SlotRules, Slots } from './slots.js';

/** What the receiver did; null when nothing was sent. */
export type Perform = (due: DueDelivery) => Promise<{ readonly latencyMs: number; readonly timedOut: boolean } | null>;

export interface DeliveryWorkersOptions {
  /** The receiver's time limit, milliseconds. */
  readonly attemptMs: number;
  readonly slots?: Partial<SlotRules>;
  /** How long after its last sign of life a worker counts as dead, and how often that is looked for, milliseconds. */
  readonly lockMs?: number;
  readonly stalledMs?: number;
}

export interface DeliveryWorkersHooks {
  /** Jobs that were taken from workers that have died; they are attempted again. */
  reclaimed(count: number): void;
  /** An attempt ended with an error of ours. Its job is gone; whoever asks for what is due asks again. */
  failed(deliveryId: string, error: unknown): void;
  /** Redis or BullMQ reports trouble, which repairs itself; told at most once a second. */
  troubled(error: unknown): void;
}

const DEFAULT_SLOTS: Omit<SlotRules, 'lostMs'> = {
  slots: { fast: 384, unproven: 128, slow: 64 },
  perEndpoint: { fast: 64, unproven: 4, slow: 16 },
  stragglers: 256,
  parked: { fast: 10_000, slow: 2_000 },
  slowLine: 64,
  lineMs: 10_000,
  putOffMs: { least: 5_000, most: 600_000 },
};

type DeliveryJob = Job<DeliveryJobData, void>;

/** How much longer than the receiver's limit an attempt takes at most. */
const LOST_AFTER_MS = 5_000;
/** How much longer than the receiver's limit `close` waits for attempts, and then for BullMQ. */
const CLOSING_GRACE_MS = 2_000;
const CLOSING_MS = 2_000;
/** Taken at most in one lane beyond what runs or waits: those that are on their way out. */
const ON_THE_WAY = 64;
const TELL_EVERY_MS = 1_000;
const KNOWN_ABSENT = 50_000;
/** How many come back at a time; the next when the endpoint is still fast a moment later. */
const RECALLED_AT_ONCE = 500;

/**
 * BullMQ hands out jobs; `Slots` says which may start. So BullMQ's concurrency is the number of jobs in this process's hands, most
 * of which only wait. What a dead process had in its hands is reclaimed when its locks have run out, and may be attempted
 * twice as far as the queue goes: whoever makes the attempt refuses one that was started before.
 */
export class DeliveryWorkers {
  private readonly slots: Slots;
  private readonly rules: SlotRules;
  private running: { readonly redis: Redis; readonly workers: readonly Worker<DeliveryJobData, void>[] } | null = null;
  private inHand = 0;
  private emptyHanded: () => void = () => undefined;
  private readonly absent = new AbsentJobs(KNOWN_ABSENT);
  private toldAt = Number.NEGATIVE_INFINITY;

  /** The workers have connections of their own, made after the queue's. */
  constructor(
    private readonly queue: BullMqDeliveryQueue,
    private readonly perform: Perform,
    private readonly options: DeliveryWorkersOptions,
    private readonly hooks: DeliveryWorkersHooks,
  ) {
    this.rules = { ...DEFAULT_SLOTS, lostMs: options.attemptMs + LOST_AFTER_MS, ...options.slots };
    this.slots = new Slots(this.rules, queue.paces, (endpointId, room) => this.recall(endpointId, room));
  }

  start(): void {
    if (this.running !== null) return;
    // What BullMQ sends while Redis is away must wait: it would ask again at once, for ever, if it were refused.
    const redis = coalesceWrites(
      this.queue.redis.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null, lazyConnect: false }),
    );
    redis.on('error', (error) => this.trouble(error));
    this.running = { redis, workers: [this.worker('fast', redis), this.worker('slow', redis)] };
  }

  /**
   * Takes no further job and hands back what waits; attempts under way may end within the receiver's limit and a little. What
   * could not be handed back is reclaimed by other workers.
   */
  async close(): Promise<void> {
    const { running } = this;
    this.running = null;
    if (running === null) return this.slots.stop();
    const { redis, workers } = running;
    await withTimeout(CLOSING_MS, Promise.all(workers.map((worker) => worker.pause(true))));
    const handsEmpty = new Promise<void>((resolve) => (this.emptyHanded = resolve));
    this.slots.close();
    if (this.inHand > 0) await withTimeout(this.options.attemptMs + CLOSING_GRACE_MS, handsEmpty);
    this.slots.stop();
    // BullMQ would wait for ever for what is still under way, and for a Redis that is away.
    const force = this.inHand > 0 || redis.status !== 'ready';
    await withTimeout(CLOSING_MS, Promise.all(workers.map((worker) => worker.close(force))));
    redis.disconnect();
  }

  private worker(lane: LaneName, redis: Redis): Worker<DeliveryJobData, void> {
    const { slots, stragglers, parked } = this.rules;
    const worker = new Worker<DeliveryJobData, void>(LANES[lane], (job, token) => this.take(lane, job, token), {
      connection: redis,
      concurrency: slots.fast + slots.unproven + slots.slow + stragglers + parked[lane] + ON_THE_WAY,
      lockDuration: this.options.lockMs ?? 20_000,
      stalledInterval: this.options.stalledMs ?? 10_000,
      // However often its workers died, a job is given to another: the attempt itself is made once.
      maxStalledCount: 1_000_000,
      // Seconds; also how soon a wait that lost its connection is noticed.
      drainDelay: 1,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('stalled', () => this.hooks.reclaimed(1));
    worker.on('error', (error) => this.trouble(error));
    return worker;
  }

  private async take(lane: LaneName, job: DeliveryJob, token: string | undefined): Promise<void> {
    this.inHand++;
    if (lane === 'slow') this.absent.delete(job.data.endpointId, jobIdOf(job.data));
    try {
      const turn = await this.slots.ask(job.data.endpointId, lane);
      if (turn.kind === 'start') return await this.attempt(job.data, turn.running);
      if (turn.kind === 'move') return await this.queue.moveToSlowLane(job.data);
      if (turn.kind === 'put-off') {
        await job.moveToDelayed(Date.now() + turn.delayMs, token);
        this.absent.add(job.data.endpointId, jobIdOf(job.data));
        throw new DelayedError();
      }
      await job.moveToWait(token);
      throw new WaitingError();
    } finally {
      if (--this.inHand === 0) this.emptyHanded();
    }
  }

  /** False when none are left that are known. */
  private recall(endpointId: string, room: number): boolean {
    const jobIds = this.absent.take(endpointId, Math.min(room, RECALLED_AT_ONCE));
    if (jobIds.length === 0) return false;
    this.queue.bringBack(jobIds).catch((error: unknown) => this.trouble(error));
    return true;
  }

  /** Never throws: the text of an error must not come to lie in Redis. */
  private attempt(due: DeliveryJobData, running: Running): Promise<void> {
    return new Promise((resolve) => {
      running.lost = resolve;
      const { deliveryId, accountId, endpointId, kind, turn } = due;
      this.perform({ deliveryId, accountId, endpointId, kind, turn })
        .catch((error: unknown) => {
          this.hooks.failed(deliveryId, error);
          return null;
        })
        .then((answer) => {
          this.slots.ended(running, answer);
          resolve();
        }, resolve);
    });
  }

  /** When Redis was emptied, every job in hand is reported. */
  private trouble(error: unknown): void {
    const now = performance.now();
    if (now - this.toldAt < TELL_EVERY_MS) return;
    this.toldAt = now;
    this.hooks.troubled(error);
  }
}
