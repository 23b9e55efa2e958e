import type { RecordedEvent } from '../kernel/domain-event.js';

/**
 * Code that runs after events of the service, in another aggregate or outside. Handlers follow the log in its order, each in one process at a time
 * and from its own checkpoint. Handlers run within moments, not at once. The use case itself therefore also does everything that its caller must see
 * at once.
 */
export interface EventHandler {
  /** Lowercase letters and underscores. The name identifies the stored checkpoint, so it never changes. */
  readonly name: string;
  /** The categories of the streams that it follows. */
  readonly categories: readonly string[];
  /** The stored types that it handles. All other types are skipped. */
  readonly types: ReadonlySet<string>;
  /** The handler gets the events of a batch at once, in their order. Otherwise it gets them one after another. */
  readonly together?: true;
  /**
   * The handler also runs immediately after the append, in the process that appended and before the caller is answered. The subscription runs the
   * handler again. If the process died after the append, only the subscription runs it.
   */
  readonly inline?: true;
  /**
   * The handler may receive an event again, even all events from the beginning of the log, and must tolerate repeated events. After an error, it
   * receives the event again.
   */
  handle(event: RecordedEvent, ...later: readonly RecordedEvent[]): Promise<void>;
}
