import type { RecordedEvent } from '../kernel/domain-event.js';

/**
 * Something that follows from events of ours, in another aggregate or outside. Handlers follow the log in its order, each in one
 * process at a time and from its checkpoint, within moments and not at once: what a caller must see at once is done by the
 * use case too.
 */
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
   * Runs right after the append as well, in the process that appended and before its caller is answered. The subscription
   * runs it again, and alone when that process died in between.
   */
  readonly inline?: true;
  /**
   * May see an event again, now or from the very beginning of the log, and must not mind. What it throws is logged, and the
   * event comes again: nothing is skipped.
   */
  handle(event: RecordedEvent): Promise<void>;
}
