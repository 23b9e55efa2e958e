// The workers' part: it takes jobs, makes their calls, and reports that the jobs have ended.
import { setMaxListeners } from 'node:events';
import { Logger, type OnModuleInit } from '@nestjs/common';
import { Worker, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../kernel/clock.js';
import { machineNow } from '../kernel/machine-time.js';
import { Unavailable } from '../kernel/unavailable.js';
import { limited, withTimeout } from '../kernel/with-timeout.js';
import type { SealedPayloads } from '../ports/sealed-payloads.js';
import type { VendorCall } from '../ports/vendor-call.js';
import type { Vendors } from '../ports/vendors.js';
import { AttemptRecovery } from './attempt-recovery.js';
import { SHARE_OF_TIME } from './attempt-times.js';
import { channelOf, queuesOf, type CallJob, type CallJobData, type SettingsOf } from './call-queues.js';
import type { ExternalCall, VendorKind } from './external-call.js';
import type { QueuedExternalCalls } from './queued-external-calls.js';

/**
 * A job whose worker died counts as failed and is never run again. After an error of Redis, a worker waits `runRetryDelay` milliseconds. If a process
 * dies before it wakes a worker, the job waits at most `drainDelay` seconds. This is less than callers wait by default.
 */
const WORKER_OPTIONS = {
  autorun: false,
  maxStalledCount: 0,
  runRetryDelay: 1_000,
  drainDelay: 10,
} satisfies Partial<WorkerOptions>;

/**
 * An attempt cannot be settled while a dead worker holds the lock of its job, so these locks are short (milliseconds). A worker that was only
 * suspended does no harm, because attempts may be settled twice. No caller waits for these jobs, so an idle worker polls seldom (seconds).
 */
const SETTLING_OPTIONS = {
  lockDuration: 5_000,
  stalledInterval: 5_000,
  drainDelay: 30,
} satisfies Partial<WorkerOptions>;

/** The slots of a worker for settling attempts, as a fraction of its slots for waiting callers; at least one. */
const SETTLING_SHARE = 0.5;

/** The time limit for recording abandoned calls and for closing, in milliseconds. */
const CLOSING_MS = 2_000;

/** The time that a closing worker gives its running calls, in milliseconds. */
const DRAIN_MS = 10_000;

/** The time until a worker that does not renew its locks counts as dead (milliseconds), and the time of one poll for a job (seconds). */
export type WorkerPatience = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval' | 'drainDelay'> & {
  readonly drainMs?: number;
};

/** The time at which the vendor must have answered. */
type Within = Required<Pick<VendorCall, 'signal' | 'endsAt' | 'onEnd'>>;

/** The callers that wait in the same process. */
export type NearbyCallers = Pick<QueuedExternalCalls, 'name' | 'over'>;

/**
 * One worker for each queue, each with its own slots. The job of a call makes at most one call, and none when its input is gone or no caller waits.
 * Redis never gets the text of an error, because BullMQ would store it.
 */
export class CallWorkers implements OnModuleInit {
  private readonly logger = new Logger('CallWorkers');
  private readonly running = new Set<Promise<unknown>>();
  private readonly patienceIsOver = new AbortController();
  private workers: readonly Worker[] = [];
  private readonly kinds = new Map<string, ExternalCall | AttemptRecovery>();

  constructor(
    private readonly redis: Redis,
    private readonly payloads: SealedPayloads,
    private readonly clock: Clock,
    private readonly settingsOf: SettingsOf,
    private readonly vendors: Pick<Vendors, 'offering' | 'limitsOf'>,
    /** Every kind of call and every kind of recovery that the modules declare. */
    private readonly find: () => readonly (ExternalCall | AttemptRecovery)[],
    private readonly nearby: NearbyCallers,
    private readonly patience: WorkerPatience = {},
  ) {}

  /** Two kinds with one name are a fault of the release, because one would get the jobs of the other. */
  onModuleInit(): void {
    for (const kind of this.find()) {
      const name = jobName(kind.vendor, kind.operation);
      if (this.kinds.has(name)) throw new Error(`Two kinds of external calls or recovery are called ${name}`);
      this.kinds.set(name, kind);
    }
  }

  start(): void {
    // Each running call has one listener.
    setMaxListeners(0, this.patienceIsOver.signal);
    const { drainMs: _, ...patience } = this.patience;
    this.workers = queuesOf(this.vendors).map(({ kind, vendor, name, settles }) => {
      const common = this.settingsOf(kind).concurrency;
      const concurrency = Math.min(common, this.vendors.limitsOf(vendor).concurrency ?? common);
      const worker = new Worker(name, (job: CallJob) => this.process(kind, job), {
        ...WORKER_OPTIONS,
        ...(settles && SETTLING_OPTIONS),
        ...patience,
        concurrency: settles ? Math.max(1, Math.floor(concurrency * SETTLING_SHARE)) : concurrency,
        connection: this.redis,
      });
      worker.on('error', (error) => this.logger.warn(`A worker of the queue ${name} reports: ${error.message}`));
      worker.on('failed', (job, error) =>
        this.logger.warn(`A job of the queue ${name} failed (${whatIs(job)}): ${error.message}`),
      );
      worker.run().catch((error: unknown) => this.logger.warn(`The queue ${name} stopped: ${nameOf(error)}`));
      return worker;
    });
  }

  /**
   * Takes no further job, and gives the running calls `drainMs`. After that time, the outcome of these calls counts as unknown, and the worker
   * closes. BullMQ's own `close` would wait for ever when Redis is unavailable.
   */
  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
    await withTimeout(this.patience.drainMs ?? DRAIN_MS, Promise.all(this.running));
    this.patienceIsOver.abort();
    await withTimeout(CLOSING_MS, Promise.all(this.running));
    const force = this.redis.status !== 'ready';
    await withTimeout(CLOSING_MS, Promise.all(this.workers.map((worker) => worker.close(force))));
  }

  /** Never throws. The recovery job settles a call that was not recorded, and an attempt that was not settled becomes due again. */
  private async process(vendor: VendorKind, job: CallJob): Promise<void> {
    const data = 'deadline' in job.data ? job.data : null;
    const leftMs = data ? data.deadline - this.clock.now().getTime() : this.settingsOf(vendor).timeoutMs;
    let retryAfter: number | undefined;
    const onEnd: Within['onEnd'] = (_, seconds) => (retryAfter = seconds);
    const endsAt = machineNow() + leftMs;
    const work = limited(leftMs, this.patienceIsOver.signal, (signal) =>
      this.workOf(vendor, job, data, { signal, endsAt, onEnd }),
    ).catch((error: unknown) =>
      this.logger.error(`The outcome of a job was not recorded (${whatIs(job)}): ${nameOf(error)}`),
    );
    this.running.add(work);
    const end = await work;
    this.running.delete(work);
    if (data && job.id !== undefined)
      this.sayOver(data.waiter, job.id, typeof end === 'string' ? end : null, retryAfter);
  }

  private async workOf(vendor: VendorKind, job: CallJob, data: CallJobData | null, within: Within): Promise<unknown> {
    const kind = this.kinds.get(jobName(vendor, job.name));
    if (kind instanceof AttemptRecovery) return kind.settle(job.data.id, within.signal, 'noticed' in job.data);
    // A job of a newer release may have an unknown kind. The recovery job then settles the attempt.
    if (kind && data) return this.run(kind, job, data, within);
  }

  private async run(call: ExternalCall, job: CallJob, data: CallJobData, within: Within): Promise<unknown> {
    const { payloadRef, deadline } = data;
    let asked: Promise<boolean> | undefined;
    const mayAsk = (): Promise<boolean> => (asked ??= this.payloads.remove(payloadRef ?? ''));
    const notAsked = (why: string): Promise<unknown> => {
      this.logger.warn(`A vendor was not called (${whatIs(job)}): ${why}`);
      return call.recordNotAsked(data);
    };
    if (payloadRef === null) return notAsked('a process of an earlier release keeps the input');
    const isOver = (): boolean => within.signal.aborted || machineNow() >= within.endsAt;
    try {
      const input = await this.payloads.read(payloadRef);
      // The input has expired, the person was erased, or another process may have called the vendor.
      if (input === null) return;
      const isLate = within.endsAt - machineNow() < (deadline - job.timestamp) * (1 - SHARE_OF_TIME);
      if (isLate && call.isMadeAgain) return;
      if (isOver()) return await notAsked('no time was left');
      const end = await call.make(data, input, { ...within, mayAsk });
      // The settlement may make a call that had no time left.
      if (!isOver()) await mayAsk();
      return end;
    } catch (error) {
      // The vault or the log was unavailable. If the settlement may still make the call, only the settlement may record its end.
      if (asked || call.isMadeAgain || !(error instanceof Unavailable)) throw error;
      return notAsked(nameOf(error));
    }
  }

  private sayOver(waiter: string, jobId: string, end: string | null, retryAfter?: number): void {
    if (waiter === this.nearby.name) return this.nearby.over(jobId, end, retryAfter);
    this.redis
      .publish(channelOf(waiter), `${jobId} ${end ?? ''} ${retryAfter ?? ''}`.trimEnd())
      .catch((error: unknown) => this.logger.warn(`A process could not be told that a call is over: ${nameOf(error)}`));
  }
}

function jobName(vendor: VendorKind, operation: string): string {
  return `${vendor}/${operation}`;
}

/** The log gets only ids. */
function whatIs(job: CallJob | undefined): string {
  if (job === undefined) return 'unknown';
  return 'attemptId' in job.data ? `${job.name}, attempt ${job.data.attemptId}` : `${job.name}, of ${job.data.id}`;
}

/** The log gets only the error's name, because the message could contain personal data. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
