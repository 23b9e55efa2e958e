// The workers that have due deliveries attempted: one for endpoints that answer quickly, one for those that are slow.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import type { DueDelivery } from '../../ports/delivery-queue.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { BullMqDeliveryQueue, type DispatchJobData, FAST_QUEUE, SLOW_QUEUE, WAKE_UP } from './bullmq.js';
import type { Answer } from './latency-tracker.js';

/** Makes the attempts, and hears how that goes. */
export abstract class AttemptRunner {
  /** An attempt that takes longer is not waited for any more, milliseconds. */
  abstract readonly limitMs: number;
  /** What the receiver did; null when nothing was sent. */
  abstract run(due: DueDelivery): Promise<Answer | null>;
  /** An attempt ended with an error of ours. The recovery job asks again. */
  abstract failed(deliveryId: string, error: unknown): void;
  /** A job was taken from a worker that has died. */
  abstract reclaimed(): void;
  /** Redis or BullMQ reports trouble, which repairs itself; told at most once a second. */
  abstract troubled(error: unknown): void;
}

type DispatchJob = Job<DispatchJobData, void>;

/** So that all endpoints have their turn also when there are more jobs than a worker takes at once. */
const YIELD_AFTER_MS = 500;
/** A job that waits for attempts that take longer than so uses the places of the others again. */
const LINGER_MS = 250;
/** What BullMQ and Redis may add to the attempts that are under way when a worker is closed. */
const CLOSING_MS = 2_000;
const TELL_EVERY_MS = 1_000;

/**
 * A job whose worker died holds one of its endpoint's places until its lock is over, so locks are short: a worker that only stood still
 * for so long does no harm. Times in milliseconds, but for `drainDelay`, in seconds: also how soon a wait that lost its connection is noticed. */
export const WORKER_OPTIONS = {
  autorun: false,
  lockDuration: 5_000,
  stalledInterval: 5_000,
  drainDelay: 10,
  runRetryDelay: 1_000,
} as const;

/**
 * A job sends what is due at its endpoint, some at a time where the endpoint is fast, and is followed by another while there is more. A job whose
 * worker died goes to another worker, with the attempts it had claimed: the worker refuses those that were started before.
 */
@Injectable()
export abstract class Dispatcher extends WorkerHost {
  protected readonly closingMs: number = CLOSING_MS;
  private readonly refills = new Set<Promise<void>>();
  private closing = false;
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly queue: BullMqDeliveryQueue,
    private readonly runner: AttemptRunner,
  ) {
    super();
  }

  start(): void {
    this.worker.run().catch((error: unknown) => this.onError(error));
  }

  /** Takes no further job, and waits for the attempts under way, but not for a Redis that is away. */
  async close(): Promise<void> {
    this.closing = true;
    // BullMQ would wait for Redis for ever, unless it is told beforehand.
    const redisIsAway = (await withTimeout(this.closingMs, this.queue.backlog())) === null;
    const closed = this.worker.close(redisIsAway).then(() => Promise.all(this.refills));
    await withTimeout(this.runner.limitMs + this.closingMs, closed);
  }

  override async process({ id = '', name, queueName, data: { endpointId } }: DispatchJob): Promise<void> {
    const { latency } = this.queue;
    const standing = latency.standing(endpointId);
    // A slow endpoint's jobs belong in the other queue, where the next one is added.
    if (name === WAKE_UP || (queueName === FAST_QUEUE && standing === 'slow') || this.closing) return;
    const yieldAt = performance.now() + YIELD_AFTER_MS;
    const together = this.queue.together(id, endpointId);
    const underWay = new Map<DueDelivery, Promise<void>>();
    const begin = (due: DueDelivery): unknown =>
      underWay.set(
        due,
        this.attempt(due).finally(() => underWay.delete(due)),
      );
    const mayGoOn = (): boolean => !this.closing && latency.standing(endpointId) === standing;
    const hasItsTurn = (): boolean => mayGoOn() && performance.now() < yieldAt;
    try {
      for (let begins = true, goesOn = true; goesOn; begins = false) {
        const free = Math.max(0, together - underWay.size);
        const due = await this.queue.claim(id, endpointId, free, begins ? null : [...underWay.keys()]);
        due.forEach(begin);
        goesOn = due.length === free && free > 0;
        // Where there is more, the next ones are claimed some at a time too.
        while (goesOn && underWay.size > together / 2) {
          await Promise.race(underWay.values()).then(() => nextTurn());
          goesOn = hasItsTurn();
        }
        if (goesOn) continue;
        // Otherwise the job ends with its attempts, unless some take long: their places are its own until then.
        await withTimeout(LINGER_MS, Promise.all(underWay.values()));
        goesOn = underWay.size > 0 && mayGoOn();
      }
    } finally {
      await Promise.all(underWay.values());
    }
    await this.queue.endClaim(id);
  }

  @OnWorkerEvent('completed')
  onCompleted(job: DispatchJob): void {
    this.onOver(job);
  }

  @OnWorkerEvent('failed')
  onFailed(job: DispatchJob | undefined): void {
    if (job !== undefined) this.onOver(job);
  }

  @OnWorkerEvent('stalled')
  onStalled(): void {
    this.runner.reclaimed();
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    const now = performance.now();
    if (now - this.toldAt < TELL_EVERY_MS) return;
    this.toldAt = now;
    this.runner.troubled(error);
  }

  private onOver({ data: { endpointId } }: DispatchJob): void {
    const refill = this.queue
      .refill(endpointId)
      .catch((error: unknown) => this.onError(error))
      .finally(() => this.refills.delete(refill));
    this.refills.add(refill);
  }

  private async attempt(due: DueDelivery): Promise<void> {
    const tracked = this.queue.latency.begin(due.endpointId);
    // The text of an error must not come to lie in Redis.
    const made = this.runner.run(due).catch((error: unknown) => {
      this.runner.failed(due.deliveryId, error);
      return null;
    });
    const answer = await withTimeout(this.runner.limitMs, made);
    this.queue.latency.end(tracked, answer);
  }
}

/**
 * As many jobs as attempts can begin until an endpoint that hangs is known as slow (some hundreds a second), and more: those
 * that hang from one moment to the next never fill it.
 */
@Processor(FAST_QUEUE, { ...WORKER_OPTIONS, concurrency: 1_024 })
export class FastDispatcher extends Dispatcher {}

@Processor(SLOW_QUEUE, { ...WORKER_OPTIONS, concurrency: 256 })
export class SlowDispatcher extends Dispatcher {}
