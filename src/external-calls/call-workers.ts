// The side of the workers: take jobs, have the vendors asked and the verdicts recorded, say that the jobs are over.
import { Logger, type OnModuleInit } from '@nestjs/common';
import { Worker, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../kernel/clock.js';
import { Unavailable } from '../kernel/unavailable.js';
import { withTimeout } from '../kernel/with-timeout.js';
import type { SealedPayloads } from '../ports/sealed-payloads.js';
import { vendorCall } from '../ports/vendor-call.js';
import type { Vendors } from '../ports/vendors.js';
import { AttemptRecovery } from './attempt-recovery.js';
import { channelOf, queuesOf, type CallJob, type CallJobData, type SettingsOf } from './call-queues.js';
import type { ExternalCall, VendorKind } from './external-call.js';
import type { QueuedExternalCalls } from './queued-external-calls.js';

/**
 * A job whose worker died is failed, never run again. (A second run could not call the vendor either: the input is gone.)
 * `runRetryDelay` is how long a worker rests after Redis answered it with an error, milliseconds. A job whose wake-up was lost with a process
 * waits for `drainDelay` at most, seconds: less than callers wait by default.
 */
const WORKER_OPTIONS = {
  autorun: false,
  maxStalledCount: 0,
  runRetryDelay: 1_000,
  drainDelay: 10,
} satisfies Partial<WorkerOptions>;

/**
 * An attempt cannot be settled while its job is held by a worker that died, so these locks are short, milliseconds. A worker that only
 * stood still for so long does no harm: attempts may be settled twice. No caller waits for them, so that an idle worker asks seldom, seconds.
 */
const SETTLING_OPTIONS = {
  lockDuration: 5_000,
  stalledInterval: 5_000,
  drainDelay: 30,
} satisfies Partial<WorkerOptions>;

/** How many slots a worker has for settling attempts, beside each slot for callers who wait; at least one. */
const SETTLING_SHARE = 0.5;

/** How long recording what was given up, and closing, may take, milliseconds. */
const CLOSING_MS = 2_000;

/** How long a worker that is closing lets its running calls go on, milliseconds. */
const DRAIN_MS = 10_000;

/** How soon a worker that does not renew its locks counts as dead (milliseconds), and how long one waits for a job at a time (seconds). */
export type WorkerPatience = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval' | 'drainDelay'> & {
  readonly drainMs?: number;
};

/** Of the same process: those who wait, and what they keep. */
export type NearbyCallers = Pick<QueuedExternalCalls, 'name' | 'over' | 'takeInput' | 'inputReference'>;

/**
 * One worker a queue, each with slots of its own. A job of a call leads to one call at most, and to none when its
 * input is gone or nobody waits any more. No text of an error reaches Redis, where BullMQ would keep it.
 */
export class CallWorkers implements OnModuleInit {
  private readonly logger = new Logger('CallWorkers');
  private readonly running = new Map<Promise<unknown>, AbortController>();
  private workers: readonly Worker[] = [];
  private readonly kinds = new Map<string, ExternalCall | AttemptRecovery>();

  constructor(
    private readonly redis: Redis,
    private readonly payloads: SealedPayloads,
    private readonly clock: Clock,
    private readonly settingsOf: SettingsOf,
    private readonly vendors: Pick<Vendors, 'offering'>,
    /** Every kind of call and of recovery that the modules have. */
    private readonly find: () => readonly (ExternalCall | AttemptRecovery)[],
    /** Those in this very process who wait. */
    private readonly nearby: NearbyCallers,
    private readonly patience: WorkerPatience = {},
  ) {}

  /** Two kinds of one name are a fault of the release: one would be given the jobs of the other. */
  onModuleInit(): void {
    for (const kind of this.find()) {
      const name = jobName(kind.vendor, kind.operation);
      if (this.kinds.has(name)) throw new Error(`Two kinds of external calls or recovery are called ${name}`);
      this.kinds.set(name, kind);
    }
  }

  start(): void {
    const { drainMs: _, ...patience } = this.patience;
    this.workers = queuesOf(this.vendors).map(({ kind, name, settles }) => {
      const { concurrency } = this.settingsOf(kind);
      const worker = new Worker(name, (job: CallJob) => this.process(kind, job), {
        ...WORKER_OPTIONS,
        ...(settles && SETTLING_OPTIONS),
        ...patience,
        concurrency: settles ? Math.max(1, Math.floor(concurrency * SETTLING_SHARE)) : concurrency,
        connection: this.redis,
      });
      worker.on('error', (error) => this.logger.warn(`A worker of the queue ${name} reports: ${error.message}`));
      worker.on('failed', (job, error) =>
        this.logger.warn(`A job of the queue ${name} was given up (${whatIs(job)}): ${error.message}`),
      );
      worker.run().catch((error: unknown) => this.logger.warn(`The queue ${name} stopped: ${nameOf(error)}`));
      return worker;
    });
  }

  /**
   * Takes no further job; gives the running calls `drainMs`, after which their outcome counts as unknown; then closes.
   * BullMQ's own `close` would wait for ever for what it cannot tell a Redis that is away.
   */
  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
    await withTimeout(this.patience.drainMs ?? DRAIN_MS, Promise.all(this.running.keys()));
    for (const giveUp of this.running.values()) giveUp.abort();
    await withTimeout(CLOSING_MS, Promise.all(this.running.keys()));
    const force = this.redis.status !== 'ready';
    await withTimeout(CLOSING_MS, Promise.all(this.workers.map((worker) => worker.close(force))));
  }

  private async process(vendor: VendorKind, job: CallJob): Promise<void> {
    const giveUp = new AbortController();
    const work = this.workOf(this.kinds.get(jobName(vendor, job.name)), job, giveUp);
    this.running.set(work, giveUp);
    const end = await work.finally(() => this.running.delete(work));
    if ('waiter' in job.data && job.id !== undefined)
      this.sayOver(job.data.waiter, job.id, typeof end === 'string' ? end : null);
  }

  private async workOf(
    kind: ExternalCall | AttemptRecovery | undefined,
    job: CallJob,
    giveUp: AbortController,
  ): Promise<unknown> {
    // Of a newer release: the attempt is left to the recovery job.
    if (kind === undefined) return;
    if (kind instanceof AttemptRecovery) return this.settle(kind, job, giveUp);
    if ('payloadRef' in job.data) return this.run(kind, job, job.data, giveUp);
  }

  /** Never throws: what was not settled is due again. */
  private async settle(recovery: AttemptRecovery, job: CallJob, giveUp: AbortController): Promise<void> {
    try {
      const { timeoutMs } = this.settingsOf(recovery.vendor);
      await givenUpAfter(timeoutMs, giveUp, (signal) => recovery.settle(job.data.id, signal));
    } catch (error) {
      this.logger.error(`An attempt was not settled (${whatIs(job)}): ${nameOf(error)}`);
    }
  }

  /** Never throws: what was not recorded is left to the recovery job. */
  private async run(call: ExternalCall, job: CallJob, data: CallJobData, giveUp: AbortController): Promise<unknown> {
    const { id, attemptId, subject, context, vendor, deadline } = data;
    const attempt = { id, attemptId, subject, context };
    let asked = false;
    const notRecorded = (error: unknown): void =>
      this.logger.error(`What came of a call was not recorded (${whatIs(job)}): ${nameOf(error)}`);
    try {
      const taken = await this.takeInput(job.id ?? '', data);
      // The input expired, the person was erased, or another worker took it and may have called the vendor.
      if (taken === null) return;
      const leftMs = deadline - this.clock.now().getTime();
      // What was sealed could not have been opened.
      const erased = data.payloadRef === null && subject !== null && (await this.payloads.isErased(subject));
      if (leftMs <= 0 || erased) {
        this.logger.warn(
          `A vendor was not called (${whatIs(job)}): ${erased ? 'the person was erased' : 'no time was left'}`,
        );
        return await call.recordNotAsked(attempt);
      }
      const endsAt = Date.now() + leftMs;
      return await givenUpAfter(leftMs, giveUp, (signal) => {
        const onAsked = (): boolean => (asked = true);
        const made = { ...vendorCall(attemptId, subject, context, vendor, id), signal, endsAt, onAsked };
        return call.askAndRecord(made, attempt, taken.input);
      });
    } catch (error) {
      notRecorded(error);
      // The vault was away. The input is in no other hands.
      if (error instanceof Unavailable && !asked) return call.recordNotAsked(attempt).catch(notRecorded);
    }
  }

  private async takeInput(
    jobId: string,
    { waiter, payloadRef }: CallJobData,
  ): Promise<{ readonly input: unknown } | null> {
    if (payloadRef === null && waiter === this.nearby.name) return this.nearby.takeInput(jobId);
    const reference = payloadRef ?? (await this.nearby.inputReference(waiter, jobId));
    const sealed = reference === null ? null : await this.payloads.take(reference);
    return sealed && { input: JSON.parse(Buffer.from(sealed).toString('utf8')) as unknown };
  }

  private sayOver(waiter: string, jobId: string, end: string | null): void {
    if (waiter === this.nearby.name) return this.nearby.over(jobId, end);
    this.redis
      .publish(channelOf(waiter), end === null ? jobId : `${jobId} ${end}`)
      .catch((error: unknown) => this.logger.warn(`A process was not told that a call is over: ${nameOf(error)}`));
  }
}

function jobName(vendor: VendorKind, operation: string): string {
  return `${vendor}/${operation}`;
}

/** Gives the work up when its time is over. The timer keeps no process alive. */
async function givenUpAfter<Value>(
  limitMs: number,
  giveUp: AbortController,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const timer = setTimeout(() => giveUp.abort(), limitMs).unref();
  try {
    return await work(giveUp.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Ids only. */
function whatIs(job: CallJob | undefined): string {
  if (job === undefined) return 'unknown';
  return 'attemptId' in job.data ? `${job.name}, attempt ${job.data.attemptId}` : `${job.name}, of ${job.data.id}`;
}

/** The name only: a message could hold what was being handled. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
