import { setTimeout as pause } from 'node:timers/promises';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Worker, type Job, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../../kernel/clock.js';
import type { Applicant, IdentityVendor } from '../../ports/identity-vendor.js';
import type { RedisSealedPayloads } from '../sealed-payloads/redis.js';
import { NotAuthentic } from '../vault/aead.js';
import { UnknownMasterKey } from '../vault/master-keys.js';
import {
  IDENTITY_VENDOR_QUEUE,
  replyChannel,
  verdictName,
  type AnyVerdict,
  type VendorJobData,
  type VendorJobResult,
  type VendorOperation,
  type VendorQueueSettings,
} from './queue.js';
import type { QueuedIdentityVendor } from './queued.js';
import { settledWithin } from '../settled-within.js';

type VendorJob = Job<VendorJobData, VendorJobResult>;

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
 * Takes jobs from the queue and makes the calls: at most one for a job, and none when its input is gone or nobody waits
 * any more. No text of an error ever reaches Redis, where BullMQ would keep it.
 *
 * In Nest it is a provider made by a factory, because the vendor it needs is the real one and not what the token
 * IdentityVendor stands for. Without Nest: `runIdentityVendorWorker`.
 */
@Processor(IDENTITY_VENDOR_QUEUE, WORKER_OPTIONS)
export class IdentityVendorWorker extends WorkerHost implements OnApplicationBootstrap {
  private readonly logger = new Logger('IdentityVendorWorker');
  private readonly giveUps = new Set<() => void>();
  private running = 0;
  private readonly unannounced = new Map<VendorJob, { readonly anyway: NodeJS.Timeout; readonly tell: () => void }>();

  /** `redis` must be the connection of `payloads`, which keeps a verdict and the word about it in order. */
  constructor(
    private readonly vendor: IdentityVendor,
    private readonly redis: Redis,
    private readonly payloads: RedisSealedPayloads,
    private readonly clock: Clock,
    readonly settings: VendorQueueSettings,
    /** The application's side where it shares this process: its verdicts are handed over in memory and never reach Redis. */
    private readonly nearby: Pick<QueuedIdentityVendor, 'replyTo' | 'settle'> | null = null,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    this.start(this.worker);
  }

  /** Runs a worker whose jobs come to this host. */
  start(worker: Worker): void {
    const close = worker.close.bind(worker);
    let closing: Promise<void> | null = null;
    worker.close = (force = false) => (closing ??= this.close(worker, close, force));
    worker.concurrency = this.settings.concurrency;
    worker.run().catch((error: unknown) => this.onError(error));
  }

  override async process(job: VendorJob): Promise<VendorJobResult> {
    this.running++;
    const verdict = await this.verdictOf(job).finally(() => this.running--);
    const leftMs = this.leftMs(job);
    const { kind } = verdict;
    if (leftMs <= 0 || job.id === undefined) return { kind, handedBack: false };
    const tell = this.nearby?.replyTo === job.data.replyTo ? this.toldNearby(job.id, verdict) : this.toldThroughRedis(job.id, job.data.replyTo, verdict, leftMs);
    this.unannounced.set(job, { tell, anyway: setTimeout(() => this.announce(job), ANNOUNCE_ANYWAY_MS) });
    return { kind, handedBack: true };
  }

  /**
   * The word that the verdict is there goes out when the job is over, so that whoever hears it may enqueue the same attempt
   * again at once. It follows the verdict on the same connection and cannot overtake it. A job that Redis has lost is
   * never over: the word of its verdict goes out a little later.
   */
  @OnWorkerEvent('completed')
  onCompleted(job: VendorJob): void {
    this.announce(job);
  }

  @OnWorkerEvent('error')
  onError(error: unknown): void {
    this.logger.warn(`The worker of the identity vendor queue reports: ${error instanceof Error ? error.message : nameOf(error)}`);
  }

  /** Only a job that BullMQ took for dead gets here. Whoever waits is answered by the time limit, and the sweep settles the attempt. */
  @OnWorkerEvent('failed')
  onFailed(job: VendorJob | undefined, error: Error): void {
    this.logger.warn(`A job of the identity vendor queue was given up (job ${job?.id ?? 'unknown'}): ${error.message}`);
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
    await settledWithin(CLOSING_MS, close(force || this.redis.status !== 'ready'));
  }

  private toldNearby(jobId: string, verdict: AnyVerdict): () => void {
    return () => this.nearby?.settle(jobId, verdict);
  }

  /** Stores the verdict; gives what sends the word of it. Without the word, the waiter finds it when it reconnects or when its time is up. */
  private toldThroughRedis(jobId: string, replyTo: string, verdict: AnyVerdict, leftMs: number): () => void {
    this.payloads.sealAs(verdictName(jobId), Buffer.from(JSON.stringify(verdict)), leftMs + GRACE_MS).catch((error: unknown) => {
      this.logger.error(`A verdict could not be handed back (job ${jobId}): ${nameOf(error)}`);
    });
    return () => void this.redis.publish(replyChannel(replyTo), jobId).catch((error: unknown) => this.onError(error));
  }

  private announce(job: VendorJob): void {
    const word = this.unannounced.get(job);
    if (word === undefined) return;
    clearTimeout(word.anyway);
    this.unannounced.delete(job);
    word.tell();
  }

  private leftMs(job: VendorJob): number {
    return job.data.deadline - this.clock.now().getTime();
  }

  private async verdictOf(job: VendorJob): Promise<AnyVerdict> {
    if (this.leftMs(job) <= 0) return { kind: 'unavailable' };
    const { payloadRef } = job.data;
    let input: readonly unknown[] = [];
    if (payloadRef !== null) {
      try {
        const sealed = await this.payloads.take(payloadRef);
        // It expired, or somebody took it before and may have called the vendor.
        if (sealed === null) return { kind: 'timed-out' };
        input = JSON.parse(Buffer.from(sealed).toString('utf8')) as readonly unknown[];
      } catch (error) {
        this.logger.error(`The input of a call could not be taken (job ${job.id}): ${nameOf(error)}`);
        return { kind: error instanceof NotAuthentic || error instanceof UnknownMasterKey ? 'unavailable' : 'timed-out' };
      }
    }
    // Taking it may have waited for Redis.
    if (this.leftMs(job) <= 0) return { kind: 'unavailable' };
    return this.withinTime(job, this.call(job, input));
  }

  private call({ name, data }: VendorJob, input: readonly unknown[]): Promise<AnyVerdict> {
    const call = { attemptId: data.attemptId, correlationId: data.correlationId };
    const operation = name as VendorOperation;
    switch (operation) {
      case 'register':
        return this.vendor.register(call, ...(input as [Applicant]));
      case 'verifyOtp':
        return this.vendor.verifyOtp(call, ...(input as [string, string]));
      case 'resendOtp':
        return this.vendor.resendOtp(call, ...(input as [string]));
      case 'verifyKba':
        return this.vendor.verifyKba(call, ...(input as [string, { questionId: number; answerId: number }[]]));
      case 'outcomeOf':
        return this.vendor.outcomeOf(call);
      default:
        return unknownOperation(operation);
    }
  }

  /** The verdict, or what to tell of a call that is still running when the time is up or the process must end. */
  private withinTime(job: VendorJob, call: Promise<AnyVerdict>): Promise<AnyVerdict> {
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
        this.logger.error(`The identity vendor adapter threw (job ${job.id}): ${nameOf(error)}`);
        settle({ kind: 'unintelligible' });
      });
    });
  }
}

/** How soon a worker that does not renew its locks counts as dead (milliseconds), and how long one waits for a job at a time (seconds). */
export type WorkerPatience = Pick<WorkerOptions, 'lockDuration' | 'stalledInterval' | 'drainDelay'>;

/** The worker without Nest. `connection` must have `maxRetriesPerRequest: null`; `close()` waits for running calls, at most `drainMs`. */
export function runIdentityVendorWorker(host: IdentityVendorWorker, connection: Redis, patience: WorkerPatience = {}): Worker {
  const worker = new Worker(IDENTITY_VENDOR_QUEUE, (job: VendorJob) => host.process(job), { ...WORKER_OPTIONS, ...patience, connection });
  worker.on('error', (error) => host.onError(error));
  worker.on('failed', (job, error) => host.onFailed(job, error));
  worker.on('completed', (job: VendorJob) => host.onCompleted(job));
  host.start(worker);
  return worker;
}

/** A worker of another release may meet a job that this one does not know yet: it makes no call. */
async function unknownOperation(name: never): Promise<AnyVerdict> {
  void name;
  return { kind: 'unavailable' };
}

/** The name only: a message could hold what was being handled. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
