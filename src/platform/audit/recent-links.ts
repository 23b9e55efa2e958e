import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../../kernel/domain-event.js';
import { EventLogDamaged, type EventStore, EventsUnreadable } from '../../ports/event-store.js';

/** What the next event of a stream has to follow. */
export interface Link {
  readonly revision: number;
  readonly hash: string;
}

/** Streams are short-lived: nearly every event follows one that was passed not long ago. */
const REMEMBERED_LINKS = 30_000;

/** The last link of each stream as the walk through the log has left it: of recent ones from memory, of others from the log. */
export class RecentLinks {
  private readonly recent = new LRUCache<string, Link | 'unreadable'>({ max: REMEMBERED_LINKS });

  constructor(private readonly store: EventStore) {}

  /** What is remembered of the event before it; null for the first of a stream, undefined when the log has to be asked. */
  known({ stream, revision }: RecordedEvent): Link | 'unreadable' | null | undefined {
    return this.recent.get(stream) ?? (revision === 0 ? null : undefined);
  }

  /** What the log has of the event before it. Null: there is none before it in the log. */
  async read({ stream, revision, position }: RecordedEvent): Promise<Link | 'unreadable' | null> {
    try {
      const [before] = await this.store.readStream(stream, { from: revision - 1, limit: 1 });
      return before !== undefined && before.position < position ? linkOf(before) : null;
    } catch (error) {
      if (error instanceof EventsUnreadable) return 'unreadable';
      if (error instanceof EventLogDamaged) return null;
      throw error;
    }
  }

  pass(event: RecordedEvent): void {
    this.recent.set(event.stream, linkOf(event));
  }

  /** The event is there, but cannot be read: whether the next one of its stream follows it cannot be told. */
  passUnreadable(stream: string | undefined): void {
    if (stream !== undefined) this.recent.set(stream, 'unreadable');
  }
}

function linkOf({ revision, metadata }: RecordedEvent): Link {
  return { revision, hash: (metadata as Partial<RecordedEvent['metadata']>).chain?.hash ?? '' };
}
