// The events of one subscription call, in order and only as fast as the consumer takes them.
import type { AllStreamResolvedEvent, AllStreamSubscription, Position } from '@eventstore/db-client';

/** A message of the server about its progress. The message is pushed among the events, so that the consumer gets it after the events before it. */
export class Sign {
  constructor(
    readonly says: 'passed' | 'caught-up' | 'fell-behind',
    readonly position?: Position,
  ) {}
}

export type News = 'news' | 'silence';

type CheckpointReached = (subscription: AllStreamSubscription, position: Position) => Promise<void>;

export class Feed {
  readonly #subscription: AllStreamSubscription;
  failure: Error | null = null;
  ended = false;
  confirmed = false;
  #wake: () => void = () => undefined;

  /**
   * `subscribe` starts the call and gets the callback for a checkpoint. The client waits for that callback and would hang for ever if it failed. The
   * checkpoint is ahead of events that the consumer has not taken yet, so it is pushed as a message among them.
   */
  constructor(subscribe: (checkpointReached: CheckpointReached) => AllStreamSubscription) {
    const subscription = subscribe((source, position) => {
      source.push(new Sign('passed', position));
      return Promise.resolve();
    });
    this.#subscription = subscription;
    // Paused mode with `read` preserves the back-pressure that a `data` listener would lose. The error listener stays after the end, because an error
    // event without a listener ends the process.
    subscription.on('readable', () => this.#wake());
    subscription.on('error', (error: Error) => {
      this.failure ??= error;
      this.#wake();
    });
    subscription.on('end', () => this.#end());
    subscription.on('close', () => this.#end());
    subscription.on('confirmation', () => {
      this.confirmed = true;
      this.#wake();
    });
    subscription.on('caughtUp', () => subscription.push(new Sign('caught-up')));
    subscription.on('fellBehind', () => subscription.push(new Sign('fell-behind')));
  }

  get isEmpty(): boolean {
    return this.#subscription.readableLength === 0;
  }

  take(): AllStreamResolvedEvent | Sign | null {
    return this.#subscription.read() as AllStreamResolvedEvent | Sign | null;
  }

  /** Waits for events, for a change, or for the end of the time limit. `stop` ends the wait too. */
  next(limitMs: number, ...stop: readonly AbortSignal[]): Promise<News> {
    if (this.failure !== null || this.ended || stop.some(({ aborted }) => aborted)) return Promise.resolve('news');
    return new Promise((resolve) => {
      const done = (news: News): void => {
        clearTimeout(timer);
        for (const signal of stop) signal.removeEventListener('abort', wake);
        this.#wake = () => undefined;
        resolve(news);
      };
      const wake = (): void => done('news');
      const timer = setTimeout(() => done('silence'), limitMs);
      for (const signal of stop) signal.addEventListener('abort', wake);
      this.#wake = wake;
    });
  }

  /** Unsubscribes, because the server would otherwise keep sending although no consumer reads. */
  close(): void {
    this.#subscription.unsubscribe().catch(() => undefined);
  }

  #end(): void {
    this.ended = true;
    this.#wake();
  }
}
