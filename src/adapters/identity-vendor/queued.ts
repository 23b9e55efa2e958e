import { randomUUID } from 'node:crypto';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { Clock } from '../../kernel/clock.js';
import {
  IdentityVendor,
  type AnswerVerdict,
  type Applicant,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../ports/identity-vendor.js';
import { RedisSealedPayloads } from '../sealed-payloads/redis.js';
import { NotAuthentic } from '../vault/aead.js';
import { UnknownMasterKey } from '../vault/master-keys.js';
import {
  IDENTITY_VENDOR_QUEUE,
  jobIdOf,
  replyChannel,
  VendorQueueSettings,
  verdictName,
  type AnyVerdict,
  type VendorJobData,
  type VendorJobResult,
  type VendorOperation,
} from './queue.js';
import { settledWithin } from '../settled-within.js';

export interface Backlog {
  readonly waiting: number;
  readonly active: number;
  /** Null when nothing waits. */
  readonly oldestWaitingMs: number | null;
}

/** How long Redis may keep silent before the queue counts as away, milliseconds. */
const QUEUE_AWAY_MS = 1_500;
/** How much longer than the time limit a verdict may be looked for that nobody announced, milliseconds. */
const LAST_LOOK_MS = 250;

/**
 * Hands the call to a worker and waits for its verdict, wherever that worker runs.
 *
 * One exchange is: SET the sealed input, add the job; the worker takes the input with GETDEL, calls the vendor, SETs the
 * sealed verdict and PUBLISHes on the channel of the process that waits; that takes the verdict with GETDEL. The published
 * word can be lost with a connection, the verdict cannot: it is looked for again after every reconnect and once more when
 * the time is up.
 *
 * `unavailable` is said only while it is certain that no worker can make the call; once the job may have been stored, a
 * silent queue is `timed-out`. An attempt is one job while it runs; that it is not started again afterwards is the
 * caller's duty (it appends the request before it calls), and the vendor's idempotency key stands behind that.
 */
@Injectable()
export class QueuedIdentityVendor extends IdentityVendor implements OnApplicationShutdown {
  /** Names this process in its jobs. */
  readonly replyTo = randomUUID();
  private readonly listener: Redis;
  private readonly listening = new Gate();
  private readonly waiting = new Map<string, (verdict: AnyVerdict) => void>();
  private readonly exchanges = new Map<string, Promise<AnyVerdict>>();
  /** The input must be gone before the time is up, and a worker that takes it late must have time left for the vendor. */
  private readonly payloadTtlMs: number;

  /** `redis` is for commands; a second connection, for listening, is made from it. */
  constructor(
    @InjectQueue(IDENTITY_VENDOR_QUEUE) private readonly queue: Queue<VendorJobData, VendorJobResult>,
    private readonly redis: Redis,
    private readonly payloads: RedisSealedPayloads,
    private readonly clock: Clock,
    private readonly settings: VendorQueueSettings,
  ) {
    super();
    this.payloadTtlMs = Math.floor(settings.timeoutMs * 0.75);
    this.listener = redis.duplicate({ lazyConnect: false, autoResubscribe: false, enableAutoPipelining: false });
    this.listener.on('message', (_channel: string, jobId: string) => void this.fetch(jobId));
    this.listener.on('ready', () => void this.listen());
    this.listener.on('close', () => this.listening.shut());
    // The connection repairs itself, and what was waited for is looked up then; an error event nobody hears would end the process.
    this.listener.on('error', () => undefined);
    redis.on('ready', this.fetchAll);
  }

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.exchange('register', call, [applicant]) as Promise<RegistrationVerdict>;
  }

  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.exchange('verifyOtp', call, [vendorSession, code]) as Promise<AnswerVerdict>;
  }

  override resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.exchange('resendOtp', call, [vendorSession]) as Promise<ResendVerdict>;
  }

  override verifyKba(call: VendorCall, vendorSession: string, answers: readonly { readonly questionId: number; readonly answerId: number }[]): Promise<AnswerVerdict> {
    return this.exchange('verifyKba', call, [vendorSession, answers]) as Promise<AnswerVerdict>;
  }

  override outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.exchange('outcomeOf', call, null) as Promise<PastOutcome>;
  }

  /** From a worker in this very process: the verdict need not go round by Redis. Whoever no longer waits is not told. */
  settle(jobId: string, verdict: AnyVerdict): void {
    this.waiting.get(jobId)?.(verdict);
  }

  /** For metrics. Throws when Redis is away. */
  async backlog(): Promise<Backlog> {
    const [counts, [oldest]] = await Promise.all([this.queue.getJobCounts('waiting', 'active'), this.queue.getWaiting(0, 0)]);
    const oldestWaitingMs = oldest === undefined ? null : Math.max(0, Date.now() - oldest.timestamp);
    return { waiting: counts['waiting'] ?? 0, active: counts['active'] ?? 0, oldestWaitingMs };
  }

  /** Stops listening; who still waits is told `timed-out`. The queue and the command connection are the caller's. */
  onApplicationShutdown(): void {
    this.listener.disconnect();
    this.redis.off('ready', this.fetchAll);
    for (const settle of this.waiting.values()) settle({ kind: 'timed-out' });
  }

  /** Two callers of one attempt in this process share one exchange. */
  private exchange(operation: VendorOperation, call: VendorCall, input: readonly unknown[] | null): Promise<AnyVerdict> {
    const jobId = jobIdOf(operation, call.attemptId);
    let running = this.exchanges.get(jobId);
    if (running === undefined) {
      running = this.start(operation, call, jobId, input).finally(() => this.exchanges.delete(jobId));
      this.exchanges.set(jobId, running);
    }
    return running;
  }

  private async start(operation: VendorOperation, { attemptId, correlationId }: VendorCall, jobId: string, input: readonly unknown[] | null): Promise<AnyVerdict> {
    const endsAt = performance.now() + this.settings.timeoutMs;
    const deadline = this.clock.now().getTime() + this.settings.timeoutMs;
    const sealed = await settledWithin(Math.min(QUEUE_AWAY_MS, this.settings.timeoutMs), this.seal(input));
    // A seal that Redis executes after we gave up is harmless: no job refers to it, and it expires.
    if (sealed === null) return { kind: 'unavailable' };

    const { payloadRef } = sealed;
    return new Promise((resolve) => {
      const settle = (verdict: AnyVerdict): void => {
        clearTimeout(timer);
        this.waiting.delete(jobId);
        resolve(verdict);
      };
      const timer = setTimeout(() => void this.lastLook(jobId), endsAt - performance.now());
      this.waiting.set(jobId, settle);
      this.queue.add(operation, { attemptId, correlationId, payloadRef, deadline, replyTo: this.replyTo }, { jobId }).catch(async () => {
        if (await this.takeBack(payloadRef)) settle({ kind: 'unavailable' });
      });
    });
  }

  private async seal(input: readonly unknown[] | null): Promise<{ payloadRef: string | null }> {
    if (!this.listening.isOpen) await this.listening.opened;
    return { payloadRef: input === null ? null : await this.payloads.seal(Buffer.from(JSON.stringify(input)), this.payloadTtlMs) };
  }

  /** Whether it is certain that the job, stored or not, cannot lead to a call: who holds the input decides. Asking for an outcome calls for nothing. */
  private async takeBack(payloadRef: string | null): Promise<boolean> {
    if (payloadRef === null) return true;
    const taken = await settledWithin(QUEUE_AWAY_MS, this.payloads.take(payloadRef));
    return taken !== null;
  }

  private async listen(): Promise<void> {
    try {
      await this.listener.subscribe(replyChannel(this.replyTo));
    } catch {
      // The connection went away again; its next 'ready' comes back here.
      return;
    }
    this.listening.open();
    this.fetchAll();
  }

  private readonly fetchAll = (): void => {
    for (const jobId of this.waiting.keys()) void this.fetch(jobId);
  };

  private async fetch(jobId: string): Promise<void> {
    if (!this.waiting.has(jobId)) return;
    try {
      const sealed = await this.payloads.takeNamed(verdictName(jobId));
      if (sealed !== null) this.waiting.get(jobId)?.(JSON.parse(Buffer.from(sealed).toString('utf8')) as AnyVerdict);
    } catch (error) {
      // A Redis that went away between the word and the verdict is asked again: after the reconnect, or when the time is up.
      if (error instanceof NotAuthentic || error instanceof UnknownMasterKey) this.waiting.get(jobId)?.({ kind: 'unintelligible' });
    }
  }

  private async lastLook(jobId: string): Promise<void> {
    await settledWithin(LAST_LOOK_MS, this.fetch(jobId));
    this.waiting.get(jobId)?.({ kind: 'timed-out' });
  }
}

/** Lets through while it is open; whoever waits at a shut gate goes on when it opens, however often it was shut in between. */
class Gate {
  isOpen = false;
  opened: Promise<void>;
  private letThrough: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => (this.letThrough = resolve));
  }

  open(): void {
    this.isOpen = true;
    this.letThrough();
  }

  shut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.opened = new Promise((resolve) => (this.letThrough = resolve));
  }
}
