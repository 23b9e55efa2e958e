// The worker that makes due attempts of deliveries.
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Job } from 'bullmq';
import { withTimeout } from '../../kernel/with-timeout.js';
import type { DeliveryAttempts, DueDelivery, TooSoon } from '../../ports/delivery-queue.js';
import { BullMqDeliveryQueue, type DispatchJobData, QUEUE } from './bullmq.js';

/** Makes the attempts, and receives reports of faults. */
export abstract class AttemptRunner {
  /** The longest time that an attempt may take, in milliseconds. */
  abstract readonly limitMs: number;
  abstract run(due: DueDelivery): ReturnType<DeliveryAttempts['attempt']>;
  /** An attempt ended with an error of the service. */
  abstract failed(deliveryId: string, error: unknown): void;
  /** A job was taken from a dead worker. */
  abstract reclaimed(): void;
  /** Redis or BullMQ reports a problem that repairs itself. Called at most once a second. */
  abstract troubled(error: unknown): void;
}

type DispatchJob = Job<DispatchJobData, void>;

/** The largest number of simultaneous attempts at one endpoint, over all processes. */
export const MOST_UNDER_WAY = 32;
/** The limit at the beginning of an endpoint's job, and after a time-out. Each answer in time raises the limit by one. */
export const FEW_UNDER_WAY = 16;
/** After this time, in milliseconds, a job begins no more attempts. The next job of its endpoint waits behind the jobs of other endpoints. */
const JOB_MS = 10_000;
/** The interval in milliseconds at which a job with long attempts looks for attempts that are now due. */
const LOOK_EVERY_MS = 500;
/** An attempt that came too soon is tried again after this part of the endpoint's spacing. */
const LOOKS_IN_SPACING = 4;
/** The time in milliseconds for which an attempt stays blocked after a fault of the service. */
const REST_MS = 1_000;
/** The time that BullMQ and Redis may need in addition to the running attempts when a worker closes. */
const CLOSING_MS = 2_000;
const TELL_EVERY_MS = 1_000;

/**
 * When a worker dies, the line of its endpoint waits until the lock of the job expires. Locks are therefore short. Times are in milliseconds, except
 * `drainDelay` in seconds. A worker notices a wait with a lost connection after `drainDelay`. The job of an endpoint that hangs costs little, so the
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

/**
 * The job of an endpoint makes attempts while one is due and the job's time lasts. The endpoint's latest answers decide how many run at once. After an
 * attempt that came too soon, the job begins the others one by one, with the endpoint's spacing.
 */
@Injectable()
@Processor(QUEUE, WORKER_OPTIONS)
export class Dispatcher extends WorkerHost {
  protected readonly closingMs: number = CLOSING_MS;
  protected readonly jobMs: number = JOB_MS;
  protected readonly restMs: number = REST_MS;
  /** The running attempts at each endpoint in this process, even if another process now has the endpoint's job. */
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
    this.worker
      .on('completed', (job: DispatchJob) => this.onOver(job))
      .on('failed', (job?: DispatchJob) => job && this.onOver(job))
      .on('stalled', () => this.runner.reclaimed())
      // This process was suspended, and another process now has the jobs. The ids of jobs are the ids of endpoints.
      .on('lockRenewalFailed', (endpointIds) => endpointIds.forEach((id) => this.queue.running.delete(id)));
    this.worker.run().catch((error: unknown) => this.onError(error));
  }

  /** Takes no further job, and waits for running attempts, but does not wait for an unavailable Redis. */
  async close(): Promise<void> {
    this.closing = true;
    this.queue.running.clear();
    // Checks Redis first, because BullMQ would otherwise wait for Redis for ever.
    const redisIsAway = (await withTimeout(this.closingMs, this.queue.due('', 1))) === null;
    const closed = this.worker.close(redisIsAway).then(() => Promise.all(this.calls));
    await withTimeout(this.runner.limitMs + this.closingMs, closed);
  }

  override async process({ id, data: { endpointId } }: DispatchJob): Promise<void> {
    // Any other job only adds the endpoint's own job, for a retry or after an earlier release.
    if (id !== endpointId) return this.queue.call(endpointId);
    const older = this.lines.get(endpointId);
    if (older === undefined) {
      const line = this.workOff(endpointId).finally(() => this.lines.delete(endpointId));
      this.lines.set(endpointId, line);
      return line;
    }
    // BullMQ renews one lock for an id until the older job ends. This job therefore ends too, and a new job follows.
    this.queue.running.delete(endpointId);
    return older;
  }

  private async workOff(endpointId: string): Promise<void> {
    const { running } = this.queue;
    if (!this.closing) running.add(endpointId);
    const endsAt = performance.now() + this.jobMs;
    const goesOn = (): boolean => running.has(endpointId) && performance.now() < endsAt;
    let places = FEW_UNDER_WAY;
    let [more, spacingMs, nextAt] = [true, 0, 0];
    /** Keyed by delivery, so that a scheduled attempt and a redelivery of one delivery wait for each other. */
    const underWay = new Map<string, Promise<void>>();
    const begin = async (due: DueDelivery): Promise<void> => {
      const ended = await this.attempt(due);
      if (ended !== null && 'spacingMs' in ended)
        [more, spacingMs, nextAt] = [true, ended.spacingMs, performance.now() + ended.spacingMs / LOOKS_IN_SPACING];
      else if (ended !== null) places = ended.timedOut ? FEW_UNDER_WAY : Math.min(MOST_UNDER_WAY, places + 1);
      underWay.delete(due.deliveryId);
    };
    try {
      while ((more && goesOn()) || underWay.size > 0) {
        const isFree = goesOn() && underWay.size < places;
        if (isFree && performance.now() >= nextAt) {
          const most = spacingMs > 0 ? underWay.size + 1 : places;
          const due = await this.queue.due(endpointId, most);
          more = due.length === most;
          nextAt = performance.now() + spacingMs;
          for (const one of due)
            if (!underWay.has(one.deliveryId) && underWay.size < most) underWay.set(one.deliveryId, begin(one));
        }
        const ended = Promise.race(underWay.values());
        const pauseMs = nextAt - performance.now();
        if (underWay.size > 0 || (isFree && pauseMs > 0))
          await (isFree ? withTimeout(pauseMs > 0 ? pauseMs : LOOK_EVERY_MS, ended) : ended);
        // Waits until the attempts that end in the same turn have ended, and then begins new attempts for all of them.
        await nextTurn();
      }
    } finally {
      await Promise.all(underWay.values());
      running.delete(endpointId);
    }
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

  /** Null if the end of the attempt is unknown. */
  private async attempt(due: DueDelivery): Promise<{ readonly timedOut: boolean } | TooSoon | null> {
    const made = await withTimeout(
      this.runner.limitMs,
      this.runner.run(due).then(
        (answer) => ({ answer }),
        // Redis must not get the text of an error.
        (error: unknown) => (this.runner.failed(due.deliveryId, error), null),
      ),
    );
    if (made?.answer && 'spacingMs' in made.answer) return made.answer;
    try {
      await this.queue.over(due, made === null);
      if (made !== null) return made.answer;
    } catch (error) {
      this.onError(error);
    }
    // The log or Redis has a problem. The attempt stays blocked for some time, so that the service does not ask them again at once.
    await setTimeout(this.restMs);
    return null;
  }
}
