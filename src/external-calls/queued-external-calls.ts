// The use case's part: it gives calls to the workers and waits for their end.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../kernel/clock.js';
import { derivedId } from '../kernel/ids.js';
import { machineNow } from '../kernel/machine-time.js';
import type { Environment } from '../kernel/environment.js';
import { within, withTimeout } from '../kernel/with-timeout.js';
import type { SealedPayloads } from '../ports/sealed-payloads.js';
import type { Vendors } from '../ports/vendors.js';
import { callEnd, keptMs, SHARE_OF_TIME } from './attempt-times.js';
import {
  channelOf,
  vendorName,
  queueName,
  QUEUE_OPTIONS,
  queuesOf,
  settleQueueName,
  type CallJobData,
  type SettingsOf,
  type SettleJobData,
} from './call-queues.js';
import type { Attempt, ExternalCall, VendorKind } from './external-call.js';
import { ExternalCalls, type OpenAttempt } from './external-calls.js';
import { REDIS_AWAY_MS, type VendorPlaces } from './vendor-places.js';

const NOT_ASKED = Symbol('not asked');

/** The pause between two tries to subscribe on a connection, in milliseconds. */
const LISTEN_AGAIN_MS = 100;

/** The result word of a call that has ended, if there is one. `NOT_ASKED` when no worker can make the call any more. */
type Over = string | typeof NOT_ASKED | null;

interface Waiter {
  /** Known when Redis has stored the job. */
  queue?: Queue;
  over(end: Over, retryAfter?: number): void;
}

export interface Backlog {
  readonly waiting: number;
  /** Null if no job waits. */
  readonly oldestWaitingMs: number | null;
}

/**
 * One call takes these steps: SET the encrypted input and add the job. The worker reads the input, deletes it, calls the vendor, records the verdict
 * and reports the end of the job. The worker reports directly within its own process, and by a message to other processes. A lost connection can lose
 * a message. Therefore this process checks after a reconnect which of its jobs are gone, and `make` ends without a result word.
 *
 * This class records that the vendor was not called only while no worker can call the vendor. Later, the process that deletes the input decides. When
 * the queue does not answer and may have stored the job, the attempt stays open.
 */
export class QueuedExternalCalls extends ExternalCalls implements OnApplicationShutdown {
  /** The name of this process in its jobs. */
  readonly name = randomUUID();
  private readonly names: ReadonlySet<string>;
  private readonly queues = new Map<string, Queue<CallJobData | SettleJobData>>();
  private readonly listener: Redis;
  private listening: Promise<void> | null = null;
  private readonly waiting = new Map<string, Waiter>();

  /** `redis` is duplicated for a second connection, which subscribes. Each connection is made at its first use. */
  constructor(
    private readonly redis: Redis,
    private readonly payloads: SealedPayloads,
    private readonly places: VendorPlaces,
    private readonly clock: Clock,
    private readonly settingsOf: SettingsOf,
    vendors: Pick<Vendors, 'offering'>,
    private readonly redisAwayMs = REDIS_AWAY_MS,
  ) {
    super();
    this.names = new Set(queuesOf(vendors).map(({ name }) => name));
    this.listener = redis.duplicate({ lazyConnect: true, autoResubscribe: false, enableAutoPipelining: false });
    this.listener.on('message', (_channel: string, message: string) => {
      const [jobId = '', end = '', retryAfter] = message.split(' ');
      this.over(jobId, end === '' ? null : end, retryAfter === undefined ? undefined : Number(retryAfter));
    });
    this.listener.on('error', () => undefined);
    // The subscribing connection writes nothing, so it would not notice that the address now leads to another server.
    redis.on('reconnecting', () => {
      if (this.listener.status === 'ready') this.listener.disconnect(true);
    });
  }

  override admit(call: ExternalCall<never>, attempt: Attempt): Promise<void> {
    const { environment } = attempt.context;
    const workers = async (): Promise<number> =>
      environment === null
        ? 1
        : this.queueNamed(this.nameOf(call.vendor, attempt.vendor, environment)).getWorkersCount();
    return this.places.take(vendorName(call.vendor, attempt.vendor), attempt, workers);
  }

  override withdraw(call: ExternalCall<never>, attempt: Attempt): Promise<void> {
    return this.places.giveBack(vendorName(call.vendor, attempt.vendor), attempt);
  }

  override async make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null> {
    try {
      await this.places.reserved(vendorName(call.vendor, attempt.vendor), attempt);
      const over = await this.handOver(call, attempt, input);
      return over === NOT_ASKED ? await call.recordNotAsked(attempt) : (over as End | null);
    } finally {
      await this.withdraw(call, attempt);
    }
  }

  override async makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean> {
    const input = await this.payloads.read(attempt.attemptId);
    const mayAsk = (): Promise<boolean> => this.payloads.remove(attempt.attemptId);
    if (input !== null) await call.make(attempt, input, { signal, mayAsk });
    return input !== null;
  }

  override async settle(
    { vendor: kind, operation }: Pick<ExternalCall, 'vendor' | 'operation'>,
    environment: Environment,
    { id, vendor, eventId }: OpenAttempt,
  ): Promise<void> {
    const name = settleQueueName(this.nameOf(kind, vendor, environment));
    const noticed = eventId !== undefined;
    const jobId = `${operation}-${noticed ? derivedId(id, eventId) : id}`;
    const added = this.queueNamed(name).add(operation, { id, ...(noticed && { noticed }) }, { jobId });
    if ((await withTimeout(this.redisAwayMs, added)) === null) throw new Error(`The queue ${name} did not take a job`);
  }

  /** Called by a worker in this process, or after a message from another process. The function ignores a job without a waiting caller. */
  over(jobId: string, end: string | null, retryAfter?: number): void {
    this.waiting.get(jobId)?.over(end, retryAfter);
  }

  /** For metrics. Throws if Redis is unavailable. */
  async backlog(name: string): Promise<Backlog> {
    const queue = this.queueNamed(name);
    const [waiting, [oldest]] = await Promise.all([queue.getWaitingCount(), queue.getWaiting(0, 0)]);
    const oldestWaitingMs = oldest === undefined ? null : Math.max(0, machineNow() - oldest.timestamp);
    return { waiting, oldestWaitingMs };
  }

  /** Unsubscribes, and ends every wait. */
  async onApplicationShutdown(): Promise<void> {
    this.listener.disconnect();
    for (const waiter of this.waiting.values()) waiter.over(null);
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  private async handOver(call: ExternalCall<never>, attempt: Attempt, input: unknown): Promise<Over> {
    const { settleAfter, context, ...ids } = attempt;
    const { askedBy: _, ...carried } = context;
    const { environment } = context;
    if (environment === null) throw new Error('A call to a vendor needs an aggregate with an environment');
    const now = this.clock.now().getTime();
    const inTime = now + this.settingsOf(call.vendor).timeoutMs;
    const deadline = settleAfter === undefined ? inTime : Math.min(inTime, callEnd(settleAfter));
    const timeoutMs = deadline - now;
    if (timeoutMs <= 0) return NOT_ASKED;
    const startedAt = performance.now();
    const bytes = Buffer.from(JSON.stringify(input));
    const jobId = call.semantics === 'at-most-once' ? attempt.attemptId : randomUUID();
    const inputMs = call.isMadeAgain ? keptMs(timeoutMs) : timeoutMs * SHARE_OF_TIME;
    const sealed = this.payloads.seal(jobId, attempt.subject, bytes, inputMs);
    if ((await this.answered(sealed, timeoutMs)) === null) {
      // Redis may store the input late, and with a stored input the vendor may still be called. The input is therefore removed.
      void sealed.then(() => this.payloads.remove(jobId)).catch(() => undefined);
      return NOT_ASKED;
    }
    await this.answered(this.beginToListen(), timeoutMs);
    const queue = this.queueNamed(this.nameOf(call.vendor, attempt.vendor, environment));
    const data: CallJobData = { ...ids, context: carried, payloadRef: jobId, deadline, waiter: this.name };
    if (attempt.context.effect) attempt.context.effect.done = true;
    const over = new Promise<Over>((resolve) => {
      const waiter: Waiter = {
        over: (end, retryAfter) => {
          if (attempt.context.effect && retryAfter !== undefined) attempt.context.effect.retryAfterSeconds = retryAfter;
          resolve(end);
        },
      };
      this.waiting.set(jobId, waiter);
      queue.add(call.operation, data, { jobId }).then(
        () => (waiter.queue = queue),
        async () => {
          if (await this.answered(this.payloads.remove(jobId), timeoutMs)) resolve(NOT_ASKED);
        },
      );
    });
    return within(startedAt + timeoutMs - performance.now(), over, () => null).finally(() =>
      this.waiting.delete(jobId),
    );
  }

  /** Begins with the first call, which waits until this process has subscribed. */
  private beginToListen(): Promise<void> {
    return (this.listening ??= new Promise((resolve) => {
      this.listener.on('ready', () => void this.listen().then(resolve));
      this.listener.connect().catch(() => undefined);
    }));
  }

  /** Subscribes on one connection and checks which jobs are gone. Repeats until both succeed or the connection ends. */
  private async listen(): Promise<void> {
    const { stream } = this.listener;
    while (this.listener.status === 'ready' && this.listener.stream === stream) {
      try {
        await this.listener.subscribe(channelOf(this.name));
        for (const [jobId, waiter] of this.waiting)
          if (waiter.queue && (await waiter.queue.getJob(jobId)) === undefined) waiter.over(null);
        return;
      } catch {
        // The connection of the queues may be restored later than the subscribing connection.
        await pause(LISTEN_AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  /** A vendor that is not configured here uses the queue of the first vendor. A worker with that vendor calls it; others answer unavailable. */
  private nameOf(kind: VendorKind, vendor: string | undefined, environment: Environment): string {
    const own = queueName(kind, vendor, environment);
    return this.names.has(own) ? own : queueName(kind, undefined, environment);
  }

  private queueNamed(name: string): Queue<CallJobData | SettleJobData> {
    const known = this.queues.get(name);
    if (known !== undefined) return known;
    const queue = new Queue<CallJobData | SettleJobData>(name, { ...QUEUE_OPTIONS, connection: this.redis });
    // The connection repairs itself. An error event without a listener would end the process.
    queue.on('error', () => undefined);
    this.queues.set(name, queue);
    return queue;
  }

  /** Null when Redis is unavailable or silent, and when the person was erased. */
  private answered<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value | null> {
    return withTimeout(Math.min(this.redisAwayMs, timeoutMs), work);
  }
}
