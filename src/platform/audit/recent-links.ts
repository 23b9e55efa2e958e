import type { RecordedEvent } from '../../kernel/domain-event.js';
import { EventLogDamaged, type EventStore } from '../../ports/event-store.js';

/** What the next event of a stream has to follow. */
export interface Link {
  readonly revision: number;
  readonly hash: string;
}

/** Streams are short-lived: nearly every event follows one that was passed not long ago. */
const REMEMBERED = 20_000;

/** The last link of each stream as the walk through the log has left it: of recent ones from memory, of others from the log. */
export class RecentLinks {
  private recent = new Map<string, Link | 'unreadable'>();
  private older = new Map<string, Link | 'unreadable'>();

  constructor(private readonly store: EventStore) {}

  /** Null: there is none before it in the log. `unreadable`: there is, but what it says is not known. */
  async before(event: RecordedEvent): Promise<Link | 'unreadable' | null> {
    const { stream, revision, position } = event;
    const known = this.recent.get(stream) ?? this.older.get(stream);
    if (known !== undefined || revision === 0) return known ?? null;
    try {
      const [before] = await this.store.readStream(stream, { from: revision - 1, limit: 1 });
      return before !== undefined && before.position < position ? linkOf(before) : null;
    } catch (error) {
      if (error instanceof EventLogDamaged) return null;
      throw error;
    }
  }

  pass(event: RecordedEvent): void {
    this.remember(event.stream, linkOf(event));
  }

  /** The event is there, but cannot be read: whether the next one of its stream follows it cannot be told. */
  passUnreadable(stream: string | undefined): void {
    if (stream !== undefined) this.remember(stream, 'unreadable');
  }

  /** Two maps make a cache that forgets what was not used for a while, without book-keeping for every use. */
  private remember(stream: string, link: Link | 'unreadable'): void {
    if (this.recent.size >= REMEMBERED) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(stream, link);
  }
}

function linkOf({ revision, metadata }: RecordedEvent): Link {
  return { revision, hash: (metadata as Partial<RecordedEvent['metadata']>).chain?.hash ?? '' };
}
