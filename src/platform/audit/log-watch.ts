// Whether the log is still the one that this installation has seen, and all of it.
import { readFile, rename, writeFile } from 'node:fs/promises';
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
  /** What was seen could not be written down. Told once until it can be again. */
  forgetful(error: unknown): void;
}

const NOTHING: Memory = { seen: null, complaint: null, accepted: [] };

/** There is nothing that an operator could accept, or nothing that may be. The message says why. */
export class NotAcceptable extends Error {
  override readonly name = 'NotAcceptable';
}

/**
 * Remembers in a small file beside the log, so that an emptied Redis changes nothing, how far the log went. A log that ends before that,
 * or begins otherwise, lost events or was replaced; a gap shows by the number of events. The service says so and is
 * not ready until an operator accepts the log, with a reason that is kept. In a new folder nothing was seen, so that a
 * restored backup starts without a word.
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
    private readonly file: string,
    private readonly observer: LogWatchObserver,
  ) {}

  /** Somebody who follows the log has been further than it goes. */
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
    // First what was seen, so that what is read of the log then is never older.
    const memory = await this.remembered();
    // One complaint is enough: what is reported beside it is accepted with it.
    if (memory.complaint !== null) this.reported = null;
    const found = await this.found();
    if (found === null) return;
    const { damage, extent } = found;
    const complaint = memory.complaint ?? this.reported ?? (damage === null ? differenceOf(memory.seen, extent, this.store) : null);
    if (complaint !== memory.complaint) await this.remember({ ...memory, complaint });
    else if (complaint === null && extent !== null && extent.position !== memory.seen?.position) await this.remember({ ...memory, seen: extent });
    this.tell(damage ?? complaint);
  }

  /** From now on the log as it is found counts as seen. Throws NotAcceptable. */
  async accept(by: string, reason: string, at: Date): Promise<Acceptance> {
    const memory = await this.remembered();
    const found = await this.found();
    if (found === null) throw new NotAcceptable('The event store cannot be reached.');
    const { damage, extent } = found;
    if (damage !== null) throw new NotAcceptable(`${damage} That cannot be accepted: bring back a backup.`);
    const complaint = memory.complaint ?? differenceOf(memory.seen, extent, this.store);
    if (complaint === null) throw new NotAcceptable('There is nothing to accept: the log goes at least as far as it was seen to go.');
    const acceptance = { at: at.toISOString(), by, reason, complaint, seenBefore: memory.seen, found: extent };
    await this.write({ seen: extent, complaint: null, accepted: [...memory.accepted, acceptance] });
    return acceptance;
  }

  /** How the log is: damaged, in a sentence, or so far as it goes. Null when it cannot be asked. */
  private async found(): Promise<{ readonly damage: string | null; readonly extent: Extent | null } | null> {
    const damaged = (damage: string) => ({ damage, extent: null });
    try {
      const missing = isInspectable(this.events) ? this.events.missingEvents() : 0;
      if (missing !== 0) return damaged(`The log has ${Math.abs(missing)} events too ${missing > 0 ? 'few' : 'many'} for its last position; \`ops audit verify\` names the places.`);
      const [first] = await this.events.readAll(null, 1);
      const position = await this.events.head();
      return { damage: null, extent: first === undefined || position === null ? null : { store: this.store, position, firstEvent: first.id } };
    } catch (error) {
      if (error instanceof EventLogDamaged) return damaged(`${error.message}.`);
      if (error instanceof EventStoreUnavailable) return null;
      throw error;
    }
  }

  private async remembered(): Promise<Memory> {
    try {
      return { ...NOTHING, ...(JSON.parse(await readFile(this.file, 'utf8')) as Partial<Memory>) };
    } catch (error) {
      // A power cut may leave an empty file: then nothing is known.
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
      throw error;
    }
  }

  private async remember(memory: Memory): Promise<void> {
    try {
      await this.write(memory);
      if (memory.complaint !== null) this.reported = null;
      this.remembers = true;
    } catch (error) {
      if (this.remembers) this.observer.forgetful(error);
      this.remembers = false;
    }
  }

  private async write(memory: Memory): Promise<void> {
    const fresh = `${this.file}.${process.pid}`;
    await writeFile(fresh, JSON.stringify(memory, null, 2), { mode: 0o600 });
    await rename(fresh, this.file);
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
  if (found.firstEvent !== seen.firstEvent) return 'The log is not the one that was last seen: it begins with another event.';
  if (!isPositionUpTo(found.position, seen.position)) return `The log ends at position ${found.position}, but went to ${seen.position} when it was last seen.`;
  return null;
}
