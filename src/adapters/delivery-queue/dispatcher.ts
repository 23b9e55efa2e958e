// The worker that has due deliveries attempted.
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { withTimeout } from '../../kernel/with-timeout.js';
import type { DeliveryAttempts, DueDelivery } from '../../ports/delivery-queue.js';
import { BullMqDeliveryQueue, type DispatchJobData, QUEUE } from './bullmq.js';

/** Makes the attempts, and is told of faults. */
export abstract class AttemptRunner {
  /** The longest wait for an attempt, milliseconds. */
  abstract readonly limitMs: number;
  abstract run(due: DueDelivery): ReturnType<DeliveryAttempts['attempt']>;
  /** An attempt ended with an error of the service. */
  abstract failed(deliveryId: string, error: unknown): void;
  /** A job was taken from a dead worker. */
  abstract reclaimed(): void;
  /** Redis or BullMQ reports trouble, which repairs itself. Called at most once a second. */
  abstract troubled(error: unknown): void;
}

type DispatchJob = Job<DispatchJobData, void>;

/** The largest number of attempts of one endpoint under way, in all processes together. */
export const MOST_UNDER_WAY = 32;
/** The same at the beginning of its job, and after a time-out. Each answer in time adds one. */
export const FEW_UNDER_WAY = 16;
/** After this time a job begins no more attempts, milliseconds. The next job of its endpoint queues behind those of the others. */
const JOB_MS = 10_000;
/** The interval at which a job with long attempts looks for newly due ones, milliseconds. */
const LOOK_EVERY_MS = 500;
/** The time for which an attempt keeps its place after a fault of the service, milliseconds. */
const REST_MS = 1_000;
/** The time that BullMQ and Redis may add to the running attempts when a worker closes. */
const CLOSING_MS = 2_000;
const TELL_EVERY_MS = 1_000;

/**
 * When a worker dies, the line of its endpoint waits until the lock of the job is over. So locks are short. Times are in milliseconds, except
 * `drainDelay` in seconds. A wait that lost its connection is noticed after `drainDelay`. The job of an endpoint that hangs costs little, so the
 * concurrency is high.
 */
export const WORKER_OPTIONS = {
  autorun: false,
  concurrency: 1_024,
  lockDuration: 5_000,
  stalledInterval: 5_000,
  drainDelay: 10,
  runRetryDelay: 1_000,
} as const;

/** The job of an endpoint makes attempts while one is due and its time lasts. The endpoint's latest answers decide how many run at once. */
@Injectable()
@Processor(QUEUE, WORKER_OPTIONS)
export class Dispatcher extends WorkerHost {
  protected readonly closingMs: number = CLOSING_MS;
  protected readonly jobMs: number = JOB_MS;
  protected readonly restMs: number = REST_MS;
  /** The work on the line of each endpoint in this process, even if another process has the job by now. */
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

  /** Takes no further job, and waits for running attempts, but not for a Redis that is away. */
  async close(): Promise<void> {
    this.closing = true;
    this.queue.running.clear();
    // Otherwise BullMQ would wait for Redis for ever.
    const redisIsAway = (await withTimeout(this.closingMs, this.queue.due('', 1))) === null;
    const closed = this.worker.close(redisIsAway).then(() => Promise.all(this.calls));
    await withTimeout(this.runner.limitMs + this.closingMs, closed);
  }

  override async process({ id, data: { endpointId } }: DispatchJob): Promise<void> {
    // Any other job only wakes the endpoint's own, for a retry or after an earlier release.
    if (id !== endpointId) return this.queue.call(endpointId);
    const older = this.lines.get(endpointId);
    if (older === undefined) {
      const line = this.workOff(endpointId).finally(() => this.lines.delete(endpointId));
      this.lines.set(endpointId, line);
      return line;
    }
    // BullMQ renews one lock for an id until the older job ends. So this job ends too, and a new one follows.
    this.queue.running.delete(endpointId);
    return older;
  }

  private async workOff(endpointId: string): Promise<void> {
    const { running } = this.queue;
    if (!this.closing) running.add(endpointId);
    const endsAt = performance.now() + this.jobMs;
    const goesOn = (): boolean => running.has(endpointId) && performance.now() < endsAt;
    let places = FEW_UNDER_WAY;
    /** By delivery, so that the ladder and a redelivery of one delivery wait for each other. */
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
        // Waits until the attempts that end in the same turn have ended, and then begins new ones for all of them.
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

  /** This process paused, and another one has the jobs now. Ids of jobs are ids of endpoints. */
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

  /** Whether the receiver took too long; null when that is not known. */
  private async attempt(due: DueDelivery): Promise<boolean | null> {
    const made = await withTimeout(
      this.runner.limitMs,
      this.runner.run(due).then(
        (answer) => ({ answer }),
        // The text of an error must not get into Redis.
        (error: unknown) => (this.runner.failed(due.deliveryId, error), null),
      ),
    );
    try {
      await this.queue.over(due, made === null);
      if (made !== null) return made.answer?.timedOut ?? null;
    } catch (error) {
      this.onError(error);
    }
    // The log or Redis is in trouble. The attempt keeps its place for a while, so that they are not asked again at once.
    await setTimeout(this.restMs);
    return null;
  }
}
