// Whether the log is still the one that this installation has seen, and all of it.
import { EventLogDamaged, type EventStore, EventStoreUnavailable, isPositionUpTo } from '../../ports/event-store.js';
import { isInspectable } from '../../ports/inspectable-log.js';

/** How far a log went. */
interface Extent {
  /** Positions mean nothing in another kind of store. */
  readonly store: string;
  readonly position: string;
  /** Id of the log's first event, which no other log has. */
  readonly firstEvent: string;
}

/** That an operator took the log as it was found for the right one. */
export interface Acceptance {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  readonly complaint: string;
  readonly seenBefore: Extent | null;
  readonly found: Extent | null;
}

interface Memory {
  readonly seen: Extent | null;
  /** Stays until an operator accepts the log, also when the log has grown past what was seen. */
  readonly complaint: string | null;
  readonly accepted: readonly Acceptance[];
}

export interface LogWatchObserver {
  /** An alarm: events were lost, or this is another log. */
  wrong(complaint: string): void;
  right(): void;
  /** How far the log goes could not be written down. Told once until it can be again. */
  unwritten(error: unknown): void;
}

/** The small file in which all processes of an installation keep what was seen. */
export interface WatchFile {
  /** Null when there is none. */
  read(): Promise<string | null>;
  /** False, and nothing was written, when the content is no longer `before`. */
  replace(before: string | null, content: string): Promise<boolean>;
}

const NOTHING: Memory = { seen: null, complaint: null, accepted: [] };
const UNREADABLE: Memory = {
  ...NOTHING,
  complaint:
    'How far the log went cannot be read: log-watch.json in the data folder is damaged or closed to the service.',
};

/** There is nothing that an operator could accept, or nothing that may be. The message says why. */
export class NotAcceptable extends Error {
  override readonly name = 'NotAcceptable';
}

/**
 * Remembers in a small file beside the log, so that an emptied Redis changes nothing, how far the log went. A log that ends before that,
 * or begins otherwise, lost events or was replaced; a gap shows by the number of events. The service says so, is not
 * ready and does nothing by itself until an operator accepts the log, with a reason that is kept. In a new folder, as of a restored
 * backup, nothing was seen: there only a follower that has been further, with a Redis that was kept, complains.
 */
export class LogWatch {
  /** What is wrong now, in a sentence; null when all is well. */
  complaint: string | null = null;
  private reported: string | null = null;
  private remembers = true;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly events: EventStore,
    private readonly store: string,
    private readonly file: WatchFile,
    private readonly observer: LogWatchObserver,
  ) {}

  /** A follower of the log has been further than the log goes. */
  async report(complaint: string): Promise<void> {
    this.reported ??= complaint;
    await this.look();
  }

  /** Compares the log with what was seen of it, and remembers how far it goes. Takes no longer for a long log. One look at a time. */
  look(): Promise<void> {
    this.looking = this.looking.catch(() => undefined).then(() => this.lookNow());
    return this.looking;
  }

  private async lookNow(): Promise<void> {
    for (;;) {
      // First what was seen, so that what is read of the log then is never older.
      const { memory, text } = await this.remembered();
      // One complaint is enough: what is reported beside it is accepted with it.
      if (memory.complaint !== null) this.reported = null;
      const found = await this.found();
      if (found === null) return;
      const { damage, extent } = found;
      const complaint =
        memory.complaint ?? this.reported ?? (damage === null ? differenceOf(memory.seen, extent, this.store) : null);
      const further = complaint === null && extent !== null && extent.position !== memory.seen?.position;
      if (
        (complaint !== memory.complaint || further) &&
        !(await this.remember(text, { ...memory, complaint, seen: further ? extent : memory.seen }))
      )
        continue;
      return this.tell(damage ?? complaint);
    }
  }

  /** From now on the log as it is found counts as seen. Throws NotAcceptable. */
  async accept(by: string, reason: string, at: Date): Promise<Acceptance> {
    for (;;) {
      const { memory, text } = await this.remembered();
      const found = await this.found();
      if (found === null) throw new NotAcceptable('The event store cannot be reached.');
      const { damage, extent } = found;
      if (damage !== null) throw new NotAcceptable(`${damage} That cannot be accepted: bring back a backup.`);
      const complaint = memory.complaint ?? differenceOf(memory.seen, extent, this.store);
      if (complaint === null)
        throw new NotAcceptable('There is nothing to accept: the log goes at least as far as it was seen to go.');
      const acceptance = { at: at.toISOString(), by, reason, complaint, seenBefore: memory.seen, found: extent };
      if (await this.write(text, { seen: extent, complaint: null, accepted: [...memory.accepted, acceptance] }))
        return acceptance;
    }
  }

  /** How the log is: damaged, in a sentence, or so far as it goes. Null when it cannot be asked. */
  private async found(): Promise<{ readonly damage: string | null; readonly extent: Extent | null } | null> {
    const damaged = (damage: string) => ({ damage, extent: null });
    try {
      const missing = isInspectable(this.events) ? this.events.missingEvents() : 0;
      if (missing !== 0)
        return damaged(
          `The log has ${Math.abs(missing)} events too ${missing > 0 ? 'few' : 'many'} for its last position; \`ops audit verify\` names the places.`,
        );
      const [first] = await this.events.readAll(null, 1);
      const position = await this.events.head();
      return {
        damage: null,
        extent: first === undefined || position === null ? null : { store: this.store, position, firstEvent: first.id },
      };
    } catch (error) {
      if (error instanceof EventLogDamaged) return damaged(`${error.message}.`);
      if (error instanceof EventStoreUnavailable) return null;
      throw error;
    }
  }

  private async remembered(): Promise<{ readonly memory: Memory; readonly text: string | null }> {
    try {
      const text = await this.file.read();
      return { memory: text === null ? NOTHING : memoryIn(text), text };
    } catch {
      return { memory: UNREADABLE, text: null };
    }
  }

  /** False when another process wrote meanwhile. */
  private async remember(before: string | null, memory: Memory): Promise<boolean> {
    try {
      if (!(await this.write(before, memory))) return false;
      if (memory.complaint !== null) this.reported = null;
      this.remembers = true;
    } catch (error) {
      if (this.remembers) this.observer.unwritten(error);
      this.remembers = false;
    }
    return true;
  }

  private write(before: string | null, memory: Memory): Promise<boolean> {
    return this.file.replace(before, JSON.stringify(memory, null, 2));
  }

  private tell(complaint: string | null): void {
    const before = this.complaint;
    this.complaint = complaint;
    if (complaint === before) return;
    if (complaint === null) this.observer.right();
    else this.observer.wrong(complaint);
  }
}

function differenceOf(seen: Extent | null, found: Extent | null, store: string): string | null {
  if (seen === null || seen.store !== store) return null;
  if (found === null) return `The log is empty, but went to position ${seen.position} when it was last seen.`;
  if (found.firstEvent !== seen.firstEvent)
    return 'The log is not the one that was last seen: it begins with another event.';
  if (!isPositionUpTo(found.position, seen.position))
    return `The log ends at position ${found.position}, but went to ${seen.position} when it was last seen.`;
  return null;
}

function memoryIn(text: string): Memory {
  try {
    const value = JSON.parse(text) as Partial<Memory> | null;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...NOTHING, ...value } : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}
