import { setTimeout as pause } from 'node:timers/promises';
import { untilNextRound } from '../../kernel/rounds.js';
import type { EventBatch, EventStore } from '../../ports/event-store.js';

export interface SubscriptionStart {
  /** The saved checkpoint, exclusive; null starts at the beginning of the log. */
  readonly after: string | null;
  readonly categories?: readonly string[];
}

/** A part that follows the log. */
export interface Subscription {
  readonly name: string;
  /** Asked before every attempt, for what is saved now. Null when there is nothing to follow until the next `restart`. */
  open(): Promise<SubscriptionStart | null>;
  /** Whether it saves what it handled some time later, and tells the supervisor by `saved` or `fail` how that went. */
  readonly savesLater?: true;
  /** Handles a batch and saves `batch.through` with its effect. May see events again that it has handled. */
  handle(batch: EventBatch): Promise<void>;
}

export interface SubscriptionObserver {
  /** The subscription broke, ended by itself or could not be opened, and is tried again after the delay. */
  dropped(subscription: string, error: unknown, delayMs: number): void;
  /** Told every two seconds: for how long events have been waiting in the log that are not handled yet; 0 at the head. */
  lag(subscription: string, lagMs: number): void;
}

export interface SupervisorOptions {
  /** At most this many events a batch. */
  readonly batchSize?: number;
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly watchIntervalMs?: number;
}

/** Why an attempt was given up without a fault. */
const RESTART = Symbol('restart');

/**
 * Keeps one subscription going: an error and an end both mean dropped, and it begins again from the saved checkpoint, at first
 * soon, then less and less often. Nothing is skipped: a batch that cannot be handled comes again.
 */
export class SubscriptionSupervisor {
  private attempt = new AbortController();
  /** In a row. */
  private failures = 0;
  private through: string | null = null;
  private idle = false;
  /** A place in the log that was the head once and is not reached yet. */
  private target: { readonly position: string; readonly since: number } | null = null;

  constructor(
    private readonly store: EventStore,
    private readonly subscription: Subscription,
    private readonly observer: SubscriptionObserver,
    private readonly options: SupervisorOptions = {},
  ) {}

  /** For how long something has been waiting in the log, in ms. */
  get lagMs(): number {
    return this.target === null ? 0 : performance.now() - this.target.since;
  }

  /** Follows the log until the signal aborts; a batch that is being handled is finished. Never throws. */
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

  /** Subscribes anew at once, because the consumer wants to begin somewhere else. A batch that is being handled is finished. */
  restart(): void {
    this.attempt.abort(RESTART);
  }

  /** The consumer could not go on with what it was given: the same as if handling the newest batch had failed. */
  fail(error: unknown): void {
    this.attempt.abort(error);
  }

  /** What was handled before is saved now. */
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
        // The log is away: the subscription itself will say so, and the lag goes on growing.
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
