import type { EventStore } from '../../../ports/event-store.js';
import { feed } from '../domain/feed.js';

/** The number of readers that wait in this process at the same time: those of one account, and all. */
const MOST_OF_ACCOUNT = 100;
const MOST = 1_000;
/** The time, in milliseconds, before a broken subscription begins again. */
const AGAIN_AFTER_MS = 500;

/** A reader that waits for the next event of a feed. */
export class FeedWait {
  private isRung = false;
  private wake: () => void = () => undefined;

  /** Must be called for each event of the feed, and when no more calls will follow. */
  readonly ring = (): void => {
    this.isRung = true;
    this.wake();
  };

  /** Returns when the feed has an event since the last call, or at the abort. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.isRung && !signal.aborted)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    this.isRung = false;
  }
}

/** The waits of a process. They share one subscription to the log, which lasts while there is a wait. */
export class FeedWaits {
  private readonly waits = new Map<string, Set<FeedWait>>();
  private readonly ofAccounts = new Map<string, number>();
  private count = 0;
  private following: { readonly begun: Promise<void>; readonly stop: AbortController } | null = null;

  constructor(private readonly store: EventStore) {}

  /**
   * Runs `wait`, whose `FeedWait` rings at each event that is stored in the stream from now on. Returns null when too many readers of the account, or of
   * all accounts, wait already.
   */
  async during<Result>(
    readerId: string,
    stream: string,
    wait: (wait: FeedWait) => Promise<Result>,
  ): Promise<Result | null> {
    const ofAccount = this.ofAccounts.get(readerId) ?? 0;
    if (this.count >= MOST || ofAccount >= MOST_OF_ACCOUNT) return null;
    const one = new FeedWait();
    const ofStream = this.waits.get(stream) ?? new Set();
    this.waits.set(stream, ofStream.add(one));
    this.ofAccounts.set(readerId, ofAccount + 1);
    this.count += 1;
    try {
      this.following ??= this.follow();
      await this.following.begun;
      return await wait(one);
    } finally {
      this.count -= 1;
      if (this.ofAccounts.get(readerId) === 1) this.ofAccounts.delete(readerId);
      else this.ofAccounts.set(readerId, (this.ofAccounts.get(readerId) ?? 1) - 1);
      ofStream.delete(one);
      if (ofStream.size === 0) this.waits.delete(stream);
      if (this.count === 0) this.end();
    }
  }

  private end(): void {
    this.following?.stop.abort();
    this.following = null;
  }

  private follow(): NonNullable<FeedWaits['following']> {
    const [head, stop] = [this.store.head(), new AbortController()];
    const begun = head.then((after) => void this.ring(after, stop.signal));
    begun.catch(() => this.end());
    return { begun, stop };
  }

  /** Rings the waits of each event. While the log cannot be read, the waits last until their time is over. */
  private async ring(after: string | null, signal: AbortSignal): Promise<void> {
    let place = after;
    while (!signal.aborted) {
      try {
        for await (const batch of this.store.subscribe({ after: place, categories: [feed.category], signal })) {
          for (const { stream } of batch.events) for (const wait of this.waits.get(stream) ?? []) wait.ring();
          place = batch.through;
        }
      } catch {
        // The readers learn the fault when they read their page again.
      }
      if (!signal.aborted) await new Promise((again) => setTimeout(again, AGAIN_AFTER_MS).unref());
    }
  }
}
