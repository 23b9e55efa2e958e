// The worker that has due deliveries attempted.
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { withTimeout } from '../../kernel/with-timeout.js';
import type { DeliveryAttempts, DueDelivery } from '../../ports/delivery-queue.js';
import { BullMqDeliveryQueue, type DispatchJobData, QUEUE } from './bullmq.js';

/** Makes the attempts, and hears how that goes. */
export abstract class AttemptRunner {
  /** An attempt that takes longer is not waited for any more, milliseconds. */
  abstract readonly limitMs: number;
  abstract run(due: DueDelivery): ReturnType<DeliveryAttempts['attempt']>;
  /** An attempt ended with an error of ours. */
  abstract failed(deliveryId: string, error: unknown): void;
  /** A job was taken from a worker that has died. */
  abstract reclaimed(): void;
  /** Redis or BullMQ reports trouble, which repairs itself; told at most once a second. */
  abstract troubled(error: unknown): void;
}

type DispatchJob = Job<DispatchJobData, void>;

/** Attempts of one endpoint that are under way at a time, in all processes together. */
export const MOST_UNDER_WAY = 32;
/** The same when its job begins, and after a time-out. Each answer in time is one more. */
export const FEW_UNDER_WAY = 16;
/** A job begins no more attempts after so long, milliseconds. The next one of its endpoint goes behind those of the others. */
const JOB_MS = 10_000;
/** A job whose attempts take long looks for what has come due meanwhile, milliseconds. */
const LOOK_EVERY_MS = 500;
/** After a fault of ours the place of the attempt stays taken, milliseconds. */
const REST_MS = 1_000;
/** What BullMQ and Redis may add to the attempts that are under way when a worker is closed. */
const CLOSING_MS = 2_000;
const TELL_EVERY_MS = 1_000;

/**
 * The line of an endpoint stands still from the death of its worker until its lock is over, so locks are short. Times in milliseconds, but for
 * `drainDelay`, in seconds: also how soon a wait that lost its connection is noticed. An endpoint that hangs has one job and little else, so that
 * there may be many of them.
 */
export const WORKER_OPTIONS = {
  autorun: false,
  concurrency: 1_024,
  lockDuration: 5_000,
  stalledInterval: 5_000,
  drainDelay: 10,
  runRetryDelay: 1_000,
} as const;

/** The job of an endpoint makes attempts while any is due and its time lasts, as many at once as the endpoint has answered of late. */
@Injectable()
@Processor(QUEUE, WORKER_OPTIONS)
export class Dispatcher extends WorkerHost {
  protected readonly closingMs: number = CLOSING_MS;
  protected readonly jobMs: number = JOB_MS;
  protected readonly restMs: number = REST_MS;
  /** By endpoint, the line that this process works off, also where another one has the job by now. */
  private readonly lines = new Map<string, Promise<void>>();
  private readonly calls = new Set<Promise<void>>();
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
    this.queue.running.clear();
    // BullMQ would wait for Redis for ever, unless it is told beforehand.
    const redisIsAway = (await withTimeout(this.closingMs, this.queue.due('', 1))) === null;
    const closed = this.worker.close(redisIsAway).then(() => Promise.all(this.calls));
    await withTimeout(this.runner.limitMs + this.closingMs, closed);
  }

  override async process({ id, data: { endpointId } }: DispatchJob): Promise<void> {
    // Any other job only wakes the endpoint's own: for a retry, or one that an earlier release has left.
    if (id !== endpointId) return this.queue.call(endpointId);
    const older = this.lines.get(endpointId);
    if (older === undefined) {
      const line = this.workOff(endpointId).finally(() => this.lines.delete(endpointId));
      this.lines.set(endpointId, line);
      return line;
    }
    // BullMQ renews one lock an id, and stops that when the older job ends. So this one ends as well, and a third follows.
    this.queue.running.delete(endpointId);
    return older;
  }

  private async workOff(endpointId: string): Promise<void> {
    const { running } = this.queue;
    if (!this.closing) running.add(endpointId);
    const endsAt = performance.now() + this.jobMs;
    const goesOn = (): boolean => running.has(endpointId) && performance.now() < endsAt;
    let places = FEW_UNDER_WAY;
    /** By delivery: the ladder and a redelivery of one wait for each other. */
    const underWay = new Map<string, Promise<void>>();
    const begin = async (due: DueDelivery): Promise<void> => {
      const timedOut = await this.attempt(due);
      if (timedOut !== null) places = timedOut ? FEW_UNDER_WAY : Math.min(MOST_UNDER_WAY, places + 1);
      underWay.delete(due.deliveryId);
    };
    try {
      for (let more = true; (more && goesOn()) || underWay.size > 0;) {
        const isFree = goesOn() && underWay.size < places;
        if (isFree) {
          const due = await this.queue.due(endpointId, places);
          more = due.length === places;
          for (const one of due)
            if (!underWay.has(one.deliveryId) && underWay.size < places) underWay.set(one.deliveryId, begin(one));
        }
        const ended = Promise.race(underWay.values());
        if (underWay.size > 0) await (isFree ? withTimeout(LOOK_EVERY_MS, ended) : ended);
        // Attempts that end in the same turn are replaced together.
        await nextTurn();
      }
    } finally {
      await Promise.all(underWay.values());
      running.delete(endpointId);
    }
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

  /** This process stood still, and another one has the jobs now. Ids of jobs are ids of endpoints. */
  @OnWorkerEvent('lockRenewalFailed')
  onLockLost(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) this.queue.running.delete(endpointId);
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    const now = performance.now();
    if (now - this.toldAt < TELL_EVERY_MS) return;
    this.toldAt = now;
    this.runner.troubled(error);
  }

  private onOver({ id, data: { endpointId } }: DispatchJob): void {
    if (id !== endpointId) return;
    const call = this.queue
      .callIfDue(endpointId)
      .catch((error: unknown) => this.onError(error))
      .finally(() => this.calls.delete(call));
    this.calls.add(call);
  }

  /** Whether the receiver took too long; null when nothing is known. */
  private async attempt(due: DueDelivery): Promise<boolean | null> {
    const made = await withTimeout(
      this.runner.limitMs,
      this.runner.run(due).then(
        (answer) => ({ answer }),
        // The text of an error must not come to lie in Redis.
        (error: unknown) => (this.runner.failed(due.deliveryId, error), null),
      ),
    );
    try {
      await this.queue.over(due, made === null);
      if (made !== null) return made.answer?.timedOut ?? null;
    } catch (error) {
      this.onError(error);
    }
    // The log or Redis is in trouble, which is not asked again and again: the place of the attempt stays taken for a while.
    await setTimeout(this.restMs);
    return null;
  }
}
