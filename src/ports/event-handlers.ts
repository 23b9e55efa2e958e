import type { RecordedEvent } from '../kernel/domain-event.js';

/** Something that follows from facts of ours, in another aggregate or outside. */
export interface EventHandler {
  /** Lowercase letters and underscores; names its checkpoint, so it is never changed. */
  readonly name: string;
  /** Streams it follows. */
  readonly categories: readonly string[];
  /** Stored types it cares about; all others are passed over. */
  readonly types: ReadonlySet<string>;
  /** How many events of one batch may be worked on at once; 1, and so in order, unless it says more. */
  readonly together?: number;
  /**
   * May see an event again, now or from the very beginning of the log, and must not mind. What it throws is logged, and the
   * event comes again: nothing is skipped.
   */
  handle(event: RecordedEvent): Promise<void>;
}

/**
 * Runs reactions in the order of the log, each one in one process at a time, from where it came to last. They follow within
 * moments, not at once: what a caller must see at once is done by the use case too.
 */
export abstract class EventHandlers {
  /** To be called once per name at start. */
  abstract on(reaction: EventHandler): void;
}
