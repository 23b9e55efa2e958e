import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { RecordedEvent } from '../../kernel/domain-event.js';
import { EventLogDamaged, type EventStore } from '../../ports/event-store.js';

/** What the next event of a stream has to follow. */
export interface Link {
  readonly revision: number;
  readonly hash: string;
}

/** Streams are short-lived: nearly every event follows one that was passed not long ago. */
const REMEMBERED_BYTES = 12 * 2 ** 20;
const LINK_BYTES = 100;

/** The last link of each stream as the walk through the log has left it: of recent ones from memory, of others from the log. */
export class RecentLinks {
  private readonly recent = new BoundedMemory<Link | 'unreadable'>(REMEMBERED_BYTES, () => LINK_BYTES);

  constructor(private readonly store: EventStore) {}

  /** Null: there is none before it in the log. `unreadable`: there is, but what it says is not known. */
  async before(event: RecordedEvent): Promise<Link | 'unreadable' | null> {
    const { stream, revision, position } = event;
    const known = this.recent.get(stream);
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
