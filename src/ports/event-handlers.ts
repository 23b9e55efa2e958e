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

/**
 * Runs reactions in the order of the log, each one in one process at a time, from where it came to last. They follow within
 * moments, not at once, unless they are marked inline.
 */
export abstract class EventHandlers {
  /** To be called once per name at start. */
  abstract on(reaction: EventHandler): void;

  /** Runs the handlers marked inline on events that were appended just now. Never throws: what fails is done by the subscription. */
  abstract handleInline(events: readonly RecordedEvent[]): Promise<void>;
}
