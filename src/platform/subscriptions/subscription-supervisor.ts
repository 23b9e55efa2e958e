import { setTimeout as pause } from 'node:timers/promises';
import { untilNextRound } from '../../kernel/rounds.js';
import type { EventBatch, EventStore } from '../../ports/event-store.js';

export interface SubscriptionStart {
  /** The saved checkpoint, exclusive. With null, the subscription starts at the beginning of the log. */
  readonly after: string | null;
  readonly categories?: readonly string[];
}

/** A part that reads events from the log as they are appended. */
export interface Subscription {
  readonly name: string;
  /** Called before every attempt to get the saved checkpoint. Null if there is nothing to follow until the next `restart`. */
  open(): Promise<SubscriptionStart | null>;
  /** Whether the consumer saves handled batches later, and reports the result by `saved` or `fail`. */
  readonly savesLater?: true;
  /** Handles a batch and saves `batch.through` with its effect. The consumer may receive an event more than once. */
  handle(batch: EventBatch): Promise<void>;
}

export interface SubscriptionObserver {
  /** The subscription broke, ended by itself or could not be opened. The subscription is tried again after the delay. */
  dropped(subscription: string, error: unknown, delayMs: number): void;
  /** Called every two seconds with the time for which an unhandled event has waited in the log; 0 at the head. */
  lag(subscription: string, lagMs: number): void;
}

export interface SupervisorOptions {
  /** The largest number of events in a batch. */
  readonly batchSize?: number;
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly watchIntervalMs?: number;
}

/** The reason of an attempt that ended without a fault. */
const RESTART = Symbol('restart');

/** Keeps one subscription running. After an error or an end, it begins again from the saved checkpoint, at growing intervals. */
export class SubscriptionSupervisor {
  private attempt = new AbortController();
  /** The number of failures in a row. */
  private failures = 0;
  private through: string | null = null;
  private idle = false;
  /** An earlier head of the log that is not reached yet. */
  private target: { readonly position: string; readonly since: number } | null = null;

  constructor(
    private readonly store: EventStore,
    private readonly subscription: Subscription,
    private readonly observer: SubscriptionObserver,
    private readonly options: SupervisorOptions = {},
  ) {}

  /** The time for which an event has waited in the log, in ms. */
  get lagMs(): number {
    return this.target === null ? 0 : performance.now() - this.target.since;
  }

  /** Follows the log until the signal aborts, and finishes the current batch. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const watch = this.watch(signal);
    const stop = (): void => this.attempt.abort();
    signal.addEventListener('abort', stop);
    const { minDelayMs = 200, maxDelayMs = 10_000 } = this.options;
    while (!signal.aborted) {
      const attempt = new AbortController();
      this.attempt = attempt;
      try {
        await this.follow(attempt.signal);
        if (!attempt.signal.aborted) throw new Error('The subscription ended by itself');
        if (attempt.signal.reason !== RESTART) throw attempt.signal.reason;
      } catch (error) {
        if (signal.aborted || attempt.signal.reason === RESTART) continue;
        const delayMs = Math.min(maxDelayMs, minDelayMs * 2 ** this.failures * (1 + Math.random() / 2));
        this.failures += 1;
        this.observer.dropped(this.subscription.name, error, delayMs);
        this.attempt = new AbortController();
        if (!signal.aborted) await delay(delayMs, this.attempt.signal);
      } finally {
        attempt.abort();
      }
    }
    signal.removeEventListener('abort', stop);
    await watch;
  }

  /** Subscribes again at once, because the consumer wants to begin at another position. Finishes the current batch. */
  restart(): void {
    this.attempt.abort(RESTART);
  }

  /** The consumer could not continue. The effect is the same as that of a failure in the newest batch. */
  fail(error: unknown): void {
    this.attempt.abort(error);
  }

  /** The earlier batches are saved now. */
  saved(): void {
    this.failures = 0;
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const start = await this.subscription.open();
    this.idle = start === null;
    if (start === null) return aborted(signal);
    if (signal.aborted) return;
    const { after, categories } = start;
    this.through = after;
    const { batchSize } = this.options;
    const options = {
      after,
      signal,
      ...(categories === undefined ? {} : { categories }),
      ...(batchSize === undefined ? {} : { batchSize }),
    };
    for await (const batch of this.store.subscribe(options)) {
      if (signal.aborted) break;
      await this.subscription.handle(batch);
      if (!this.subscription.savesLater) this.saved();
      this.through = batch.through;
      if (this.target !== null && (batch.caughtUp || (batch.through !== null && batch.through >= this.target.position)))
        this.target = null;
    }
  }

  private async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(untilNextRound(this.options.watchIntervalMs ?? 2_000), signal);
      if (signal.aborted) return;
      try {
        await this.measure();
      } catch {
        // The log is unavailable. The subscription itself reports this, and the lag continues to grow.
      }
      this.observer.lag(this.subscription.name, this.lagMs);
    }
  }

  private async measure(): Promise<void> {
    const head = await this.store.head();
    const { through } = this;
    if (this.idle || head === null || (through !== null && through >= head)) this.target = null;
    else this.target ??= { position: head, since: performance.now() };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves after the time or when the signal aborts, whichever comes first. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal }).catch(() => undefined);
}
