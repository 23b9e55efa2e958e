// The worker's side of a vendor's queue: takes jobs, makes the calls, hands the verdicts back, and measures what it called.
import { setTimeout as pause } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Worker, type Job, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../../kernel/clock.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { RedisSealedPayloads } from '../sealed-payloads/redis.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { NotAuthentic } from '../vault/aead.js';
import { UnknownMasterKey } from '../vault/master-keys.js';
import type { QueuedCalls } from './caller.js';
import { fromJson } from './packing.js';
import {
  operationOf,
  packingOf,
  replyChannel,
  verdictName,
  type AnyVerdict,
  type CallJobData,
  type CallJobResult,
  type CallQueue,
  type Calls,
  type CallSettings,
} from './queue.js';

type CallJob = Job<CallJobData, CallJobResult>;

/** Hears of every call that was made: its operation, the kind of its verdict and its duration, and nothing else. */
export type CallObserver = (operation: string, outcome: string, seconds: number) => void;

/**
 * A job whose worker died is failed, never run again. (A second run could not call the vendor either: the input is gone.)
 * `runRetryDelay` is how long a worker rests after Redis answered it with an error, milliseconds.
 */
const WORKER_OPTIONS = { autorun: false, maxStalledCount: 0, runRetryDelay: 1_000 };

/** How long a worker may take to close after its calls have ended, and how often it looks whether they have, milliseconds. */
const CLOSING_MS = 2_000;
const IDLE_LOOK_MS = 10;

/** How long the word of a verdict waits for its job to be finished, milliseconds. */
const ANNOUNCE_ANYWAY_MS = 1_000;

/** How long a verdict outlives the deadline, for a waiter whose clock differs a little, milliseconds. */
const GRACE_MS = 2_000;

/**
 * Takes jobs from a vendor's queue and makes the calls: at most one for a job, and none when its input is gone or nobody
 * waits any more. No text of an error ever reaches Redis, where BullMQ would keep it.
 *
 * In Nest it is a provider made by a factory (see `queuedVendor`), because what it calls is the real adapter and not what
 * the token of the port stands for. Without Nest: `runCallWorker`.
 */
export class CallWorker<Port> extends WorkerHost implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('CallWorker');
  private readonly giveUps = new Set<() => void>();
  private running = 0;
  private readonly unannounced = new Map<CallJob, { readonly anyway: NodeJS.Timeout; readonly tell: () => void }>();

  /** `redis` must be the connection of `payloads`, which keeps a verdict and the word about it in order. */
  constructor(
    readonly queue: CallQueue<Port>,
    private readonly vendor: Calls<Port>,
    private readonly redis: Redis,
    private readonly payloads: RedisSealedPayloads,
    private readonly clock: Clock,
    readonly settings: CallSettings,
    private readonly observe: CallObserver = () => undefined,
    /** The application's side where it shares this process: its verdicts are handed over in memory and never reach Redis. */
    private readonly nearby: Pick<QueuedCalls<Port>, 'replyTo' | 'settle'> | null = null,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    this.start(this.worker);
  }

  /** Nest stops what depends on another before that other: calls that end now still find whoever waits for them nearby. */
  onApplicationShutdown(): Promise<void> {
    return this.worker.close();
  }

  /** Runs a worker whose jobs come to this host. */
  start(worker: Worker): void {
    const close = worker.close.bind(worker);
    let closing: Promise<void> | null = null;
    worker.close = (force = false) => (closing ??= this.close(worker, close, force));
    worker.concurrency = this.settings.concurrency;
    worker.run().catch((error: unknown) => this.onError(error));
  }

  override async process(job: CallJob): Promise<CallJobResult> {
    this.running++;
    const verdict = await this.verdictOf(job).finally(() => this.running--);
    const leftMs = this.leftMs(job);
    const { kind } = verdict;
    if (leftMs <= 0 || job.id === undefined) return { kind, handedBack: false };
    const tell =
      this.nearby?.replyTo === job.data.replyTo
        ? this.toldNearby(job.id, verdict)
        : this.toldThroughRedis(job, job.id, verdict, leftMs);
    this.unannounced.set(job, { tell, anyway: setTimeout(() => this.announce(job), ANNOUNCE_ANYWAY_MS) });
    return { kind, handedBack: true };
  }

  /**
   * The word that the verdict is there goes out when the job is over, so that whoever hears it may enqueue the same attempt
   * again at once. It follows the verdict on the same connection and cannot overtake it. A job that Redis has lost is
   * never over: the word of its verdict goes out a little later.
   */
  @OnWorkerEvent('completed')
  onCompleted(job: CallJob): void {
    this.announce(job);
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.logger.warn(
      `A worker of the queue ${this.queue.name} reports: ${error instanceof Error ? error.message : nameOf(error)}`,
    );
  }

  /** Only a job that BullMQ took for dead gets here. Whoever waits is answered by the time limit, and the sweep settles the attempt. */
  @OnWorkerEvent('failed')
  onFailed(job: CallJob | undefined, error: Error): void {
    this.logger.warn(
      `A job of the queue ${this.queue.name} was given up (${job === undefined ? 'unknown' : whatIs(job)}): ${error.message}`,
    );
  }

  /**
   * Takes no further job; gives the running calls `drainMs`, after which their waiters are told that the outcome is unknown;
   * then closes. BullMQ's own `close` would wait for ever for what it cannot tell a Redis that is away.
   */
  private async close(worker: Worker, close: Worker['close'], force: boolean): Promise<void> {
    await worker.pause(true);
    const giveUpAt = performance.now() + this.settings.drainMs;
    // What is given up still has its word to send.
    const leaveAt = giveUpAt + 2 * ANNOUNCE_ANYWAY_MS;
    while (!force && this.running + this.unannounced.size > 0 && performance.now() < leaveAt) {
      if (performance.now() >= giveUpAt) for (const giveUp of this.giveUps) giveUp();
      await pause(IDLE_LOOK_MS);
    }
    await withTimeout(CLOSING_MS, close(force || this.redis.status !== 'ready'));
  }

  private toldNearby(jobId: string, verdict: AnyVerdict): () => void {
    return () => this.nearby?.settle(jobId, verdict);
  }

  /** Stores the verdict; gives what sends the word of it. Without the word, the waiter finds it when it reconnects or when its time is up. */
  private toldThroughRedis(job: CallJob, jobId: string, verdict: AnyVerdict, leftMs: number): () => void {
    const packed = packingOf(operationOf(this.queue, job.name)).pack(verdict);
    const stored = this.payloads
      .sealAs(verdictName(this.queue.name, jobId), job.data.subject, packed, leftMs + GRACE_MS)
      .catch((error: unknown) => {
        this.logger.error(`A verdict could not be handed back (${whatIs(job)}): ${nameOf(error)}`);
      });
    return () =>
      void stored
        .then(() => this.redis.publish(replyChannel(this.queue.name, job.data.replyTo), jobId))
        .catch((error: unknown) => this.onError(error));
  }

  private announce(job: CallJob): void {
    const word = this.unannounced.get(job);
    if (word === undefined) return;
    clearTimeout(word.anyway);
    this.unannounced.delete(job);
    word.tell();
  }

  private leftMs(job: CallJob): number {
    return job.data.deadline - this.clock.now().getTime();
  }

  private async verdictOf(job: CallJob): Promise<AnyVerdict> {
    const { payloadRef, subject } = job.data;
    // A worker of another release may meet an operation that this one does not know yet, or a job that does not say whose data it carries: it makes no call.
    const foreign = operationOf(this.queue, job.name) === null || (subject as unknown) === undefined;
    if (this.leftMs(job) <= 0 || foreign) return { kind: 'unavailable' };
    let input: readonly unknown[] = [];
    if (payloadRef !== null) {
      try {
        const sealed = await this.payloads.take(payloadRef);
        // It expired, the person was erased, or somebody took it before and may have called the vendor.
        if (sealed === null) return { kind: 'timed-out' };
        input = fromJson(sealed) as readonly unknown[];
      } catch (error) {
        this.logger.error(`The input of a call could not be taken (${whatIs(job)}): ${nameOf(error)}`);
        return {
          kind: error instanceof NotAuthentic || error instanceof UnknownMasterKey ? 'unavailable' : 'timed-out',
        };
      }
    }
    // Taking it may have waited for Redis.
    if (this.leftMs(job) <= 0) return { kind: 'unavailable' };
    const startedAt = performance.now();
    const verdict = await this.withinTime(job, this.call(job, input));
    this.observe(job.name, verdict.kind, (performance.now() - startedAt) / 1_000);
    return verdict;
  }

  private async call({ name, data }: CallJob, input: readonly unknown[]): Promise<AnyVerdict> {
    const vendor = this.vendor as unknown as Readonly<
      Record<string, (call: VendorCall, ...input: readonly unknown[]) => Promise<AnyVerdict>>
    >;
    return (
      vendor[name]?.(
        {
          attemptId: data.attemptId,
          correlationId: data.correlationId,
          environment: data.environment,
          subject: data.subject,
        },
        ...input,
      ) ?? { kind: 'unavailable' }
    );
  }

  /** The verdict, or what to tell of a call that is still running when the time is up or the process must end. */
  private withinTime(job: CallJob, call: Promise<AnyVerdict>): Promise<AnyVerdict> {
    return new Promise((resolve) => {
      const settle = (verdict: AnyVerdict): void => {
        clearTimeout(timer);
        this.giveUps.delete(giveUp);
        resolve(verdict);
      };
      const giveUp = (): void => settle({ kind: 'timed-out' });
      const timer = setTimeout(giveUp, this.leftMs(job));
      this.giveUps.add(giveUp);
      call.then(settle, (error: unknown) => {
        this.logger.error(`The adapter behind the queue ${this.queue.name} threw (${whatIs(job)}): ${nameOf(error)}`);
        settle({ kind: 'unintelligible' });
      });
    });
  }
}

/** The class of one queue's workers: Nest reads from the class which queue a worker is for. */
export function callWorkerOf(queueName: string): typeof CallWorker {
  class WorkerOfOneQueue<Port> extends CallWorker<Port> {}
  Processor(queueName, WORKER_OPTIONS)(WorkerOfOneQueue);
  return WorkerOfOneQueue;
}

/** How soon a worker that does not renew its locks counts as dead (milliseconds), and how long one waits for a job at a time (seconds). */
export type WorkerPatience = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval' | 'drainDelay'>;

/** The worker without Nest. `connection` must have `maxRetriesPerRequest: null`; `close()` waits for running calls, at most `drainMs`. */
export function runCallWorker<Port>(host: CallWorker<Port>, connection: Redis, patience: WorkerPatience = {}): Worker {
  const worker = new Worker(host.queue.name, (job: CallJob) => host.process(job), {
    ...WORKER_OPTIONS,
    ...patience,
    connection,
  });
  worker.on('error', (error) => host.onError(error));
  worker.on('failed', (job, error) => host.onFailed(job, error));
  worker.on('completed', (job: CallJob) => host.onCompleted(job));
  host.start(worker);
  return worker;
}

/** Ids only. */
function whatIs(job: CallJob): string {
  return `${job.name}, attempt ${job.data.attemptId}`;
}

/** The name only: a message could hold what was being handled. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
