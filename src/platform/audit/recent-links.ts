import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../../kernel/domain-event.js';
import { EventLogDamaged, type EventStore, EventsUnreadable } from '../../ports/event-store.js';

/** The chain link that the next event of a stream must follow. */
export interface Link {
  readonly revision: number;
  readonly hash: string;
}

/** Streams are short-lived, so nearly every event follows a recent link. */
const REMEMBERED_LINKS = 30_000;

/** The last link of each stream in a walk through the log: recent links from memory, others from the log. */
export class RecentLinks {
  private readonly recent = new LRUCache<string, Link | 'unreadable'>({ max: REMEMBERED_LINKS });

  constructor(private readonly store: EventStore) {}

  /** The remembered link of the previous event. Null for the first event of a stream; undefined if the log must be read. */
  known({ stream, revision }: RecordedEvent): Link | 'unreadable' | null | undefined {
    return this.recent.get(stream) ?? (revision === 0 ? null : undefined);
  }

  /** The link before the event, from the log; null without an earlier event. */
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

  /** The event exists but cannot be read, so the next event of its stream cannot be compared with it. */
  passUnreadable(stream: string | undefined): void {
    if (stream !== undefined) this.recent.set(stream, 'unreadable');
  }
}

function linkOf({ revision, metadata }: RecordedEvent): Link {
  return { revision, hash: (metadata as Partial<RecordedEvent['metadata']>).chain?.hash ?? '' };
}
