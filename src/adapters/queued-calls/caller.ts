// The application's side of a vendor's queue: hands calls to workers and waits for their verdicts.
import { randomUUID } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../../kernel/clock.js';
import type { NoVerdict, VendorCall } from '../../ports/vendor-call.js';
import type { RedisSealedPayloads } from '../sealed-payloads/redis.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { NotAuthentic } from '../vault/aead.js';
import { UnknownMasterKey } from '../vault/master-keys.js';
import { asJson, type Packing } from './packing.js';
import {
  packingOf,
  replyChannel,
  verdictName,
  type AnyVerdict,
  type CallJobData,
  type CallJobResult,
  type CallQueue,
  type CallSettings,
  type InputOf,
  type Operation,
  type VerdictOf,
} from './queue.js';

export interface Backlog {
  readonly waiting: number;
  readonly active: number;
  /** Null when nothing waits. */
  readonly oldestWaitingMs: number | null;
}

interface Waiter {
  readonly packing: Packing<AnyVerdict>;
  settle(verdict: AnyVerdict): void;
}

/** How long Redis may keep silent before the queue counts as away, milliseconds. */
const QUEUE_AWAY_MS = 1_500;
/** How much longer than the time limit a verdict may be looked for that nobody announced, milliseconds. */
const LAST_LOOK_MS = 250;

/**
 * Hands a call to a worker and waits for its verdict, wherever that worker runs. The queued adapter of a port is a thin
 * shell around it.
 *
 * One exchange is: SET the sealed input, add the job; the worker takes the input with GETDEL, calls the vendor, SETs the
 * sealed verdict and PUBLISHes on the channel of the process that waits; that takes the verdict with GETDEL. The published
 * word can be lost with a connection, the verdict cannot: it is looked for again after every reconnect and once more when
 * the time is up.
 *
 * `unavailable` is said only while it is certain that no worker can make the call; once the job may have been stored, a
 * silent queue is `timed-out`. An attempt that must not be repeated is one job while it runs; that it is not started again
 * afterwards is the caller's duty (it appends the request before it calls), and the vendor's idempotency key stands behind that.
 */
export class QueuedCalls<Port> implements OnApplicationShutdown {
  /** Names this process in its jobs. */
  readonly replyTo = randomUUID();
  private readonly operations: Readonly<Record<keyof Port & string, Operation<AnyVerdict>>>;
  private readonly listener: Redis;
  private readonly listening = new Gate();
  private readonly waiting = new Map<string, Waiter>();
  private readonly exchanges = new Map<string, Promise<AnyVerdict>>();
  /** The input must be gone before the time is up, and a worker that takes it late must have time left for the vendor. */
  private readonly payloadTtlMs: number;

  /** `jobs` is the queue of that name; `redis` is for commands, and a second connection, for listening, is made from it. */
  constructor(
    private readonly queue: CallQueue<Port>,
    private readonly jobs: Queue<CallJobData, CallJobResult>,
    private readonly redis: Redis,
    private readonly payloads: RedisSealedPayloads,
    private readonly clock: Clock,
    private readonly settings: CallSettings,
  ) {
    this.operations = queue.operations as Readonly<Record<keyof Port & string, Operation<AnyVerdict>>>;
    this.payloadTtlMs = Math.floor(settings.timeoutMs * 0.75);
    this.listener = redis.duplicate({ lazyConnect: false, autoResubscribe: false, enableAutoPipelining: false });
    this.listener.on('message', (_channel: string, jobId: string) => void this.fetch(jobId));
    this.listener.on('ready', () => void this.listen());
    this.listener.on('close', () => this.listening.shut());
    // The connection repairs itself, and what was waited for is looked up then; an error event nobody hears would end the process.
    this.listener.on('error', () => undefined);
    redis.on('ready', this.fetchAll);
  }

  /** The verdict of one operation, within the time limit. Never throws. */
  make<Name extends keyof Port & string>(
    operation: Name,
    call: VendorCall,
    ...input: InputOf<Port[Name]>
  ): Promise<VerdictOf<Port[Name]> | NoVerdict> {
    return this.exchange(operation, this.operations[operation], call, input) as Promise<
      VerdictOf<Port[Name]> | NoVerdict
    >;
  }

  /** From a worker in this very process: the verdict need not go round by Redis. Whoever no longer waits is not told. */
  settle(jobId: string, verdict: AnyVerdict): void {
    this.waiting.get(jobId)?.settle(verdict);
  }

  /** For metrics. Throws when Redis is away. */
  async backlog(): Promise<Backlog> {
    const [counts, [oldest]] = await Promise.all([
      this.jobs.getJobCounts('waiting', 'active'),
      this.jobs.getWaiting(0, 0),
    ]);
    const oldestWaitingMs = oldest === undefined ? null : Math.max(0, Date.now() - oldest.timestamp);
    return { waiting: counts['waiting'] ?? 0, active: counts['active'] ?? 0, oldestWaitingMs };
  }

  /** Stops listening; who still waits is told `timed-out`. The queue and the command connection are the caller's. */
  onApplicationShutdown(): void {
    this.listener.disconnect();
    this.redis.off('ready', this.fetchAll);
    for (const waiter of this.waiting.values()) waiter.settle({ kind: 'timed-out' });
  }

  /** Two callers of one attempt in this process share one exchange, unless they ask a question: whoever asks later may have to hear something newer. */
  private exchange(
    name: string,
    how: Operation<AnyVerdict>,
    call: VendorCall,
    input: readonly unknown[],
  ): Promise<AnyVerdict> {
    if (how.repetition === 'question') return this.start(name, how, call, randomUUID(), input);
    const once = how.repetition === 'never';
    const shared = once ? call.attemptId : `${name}/${call.attemptId}`;
    let running = this.exchanges.get(shared);
    if (running === undefined) {
      running = this.start(name, how, call, once ? call.attemptId : randomUUID(), input).finally(() =>
        this.exchanges.delete(shared),
      );
      this.exchanges.set(shared, running);
    }
    return running;
  }

  /** `jobId` is the job's id, under which the verdict comes back too. */
  private async start(
    name: string,
    how: Operation<AnyVerdict>,
    { attemptId, correlationId, vendor, environment, subject }: VendorCall,
    jobId: string,
    input: readonly unknown[],
  ): Promise<AnyVerdict> {
    const endsAt = performance.now() + this.settings.timeoutMs;
    const deadline = this.clock.now().getTime() + this.settings.timeoutMs;
    const bare = how.repetition === 'question' && input.length === 0;
    const sealed = await withTimeout(
      Math.min(QUEUE_AWAY_MS, this.settings.timeoutMs),
      this.seal(subject, bare ? null : input),
    );
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
      this.waiting.set(jobId, { settle, packing: packingOf(how) });
      this.jobs
        .add(
          name,
          {
            attemptId,
            correlationId,
            ...(vendor !== undefined && { vendor }),
            environment,
            subject,
            payloadRef,
            deadline,
            replyTo: this.replyTo,
          },
          { jobId },
        )
        .catch(async () => {
          if (await this.takeBack(payloadRef)) settle({ kind: 'unavailable' });
        });
    });
  }

  private async seal(subject: string | null, input: readonly unknown[] | null): Promise<{ payloadRef: string | null }> {
    if (!this.listening.isOpen) await this.listening.opened;
    return { payloadRef: input === null ? null : await this.payloads.seal(subject, asJson(input), this.payloadTtlMs) };
  }

  /** Whether it is certain that the job, stored or not, cannot lead to a call: who holds the input decides. A question without one executes nothing in any case. */
  private async takeBack(payloadRef: string | null): Promise<boolean> {
    if (payloadRef === null) return true;
    const taken = await withTimeout(QUEUE_AWAY_MS, this.payloads.take(payloadRef));
    return taken !== null;
  }

  private async listen(): Promise<void> {
    try {
      await this.listener.subscribe(replyChannel(this.queue.name, this.replyTo));
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
      const sealed = await this.payloads.takeNamed(verdictName(this.queue.name, jobId));
      const waiter = this.waiting.get(jobId);
      if (sealed !== null) waiter?.settle(waiter.packing.unpack(sealed));
    } catch (error) {
      // A Redis that went away between the word and the verdict is asked again: after the reconnect, or when the time is up.
      if (error instanceof NotAuthentic || error instanceof UnknownMasterKey)
        this.waiting.get(jobId)?.settle({ kind: 'unintelligible' });
    }
  }

  private async lastLook(jobId: string): Promise<void> {
    await withTimeout(LAST_LOOK_MS, this.fetch(jobId));
    this.waiting.get(jobId)?.settle({ kind: 'timed-out' });
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
