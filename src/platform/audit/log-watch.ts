// Whether the log is still the one that this installation has seen, and all of it; and with that whether it may be appended to.
import { DomainError } from '../../kernel/domain-error.js';
import {
  EventLogDamaged,
  type EventStore,
  EventStoreUnavailable,
  isPositionUpTo,
  LogRefused,
} from '../../ports/event-store.js';
import { isInspectable } from '../../ports/inspectable-log.js';
import type { Log } from '../observability/log.js';

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

/** The small file in which all processes of an installation keep what was seen. */
export interface WatchFile {
  /** Null when there is none. */
  read(): Promise<string | null>;
  /** False, and nothing was written, when the content is no longer `before`. */
  replace(before: string | null, content: string): Promise<boolean>;
}

/** In the data folder. */
export const WATCH_FILE = 'log-watch.json';
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
 * ready, appends nothing and does nothing by itself until an operator accepts the log, with a reason that is kept. In a new folder, as of a restored
 * backup, nothing was seen: there only a follower that has been further, with a Redis that was kept, complains.
 */
export class LogWatch {
  /** What is wrong now, in a sentence; null when all is well. */
  complaint: string | null = null;
  private reported: string | null = null;
  private hasLooked = false;
  private remembers = true;
  private looking: Promise<void> = Promise.resolve();
  /** Of all that wait for this process's first look. */
  private first: Promise<void> | null = null;

  constructor(
    private readonly events: EventStore,
    private readonly store: string,
    private readonly file: WatchFile,
    private readonly log: Log,
    private readonly readOnly = false,
  ) {}

  /** A follower of the log has been further than the log goes, which lost events or is another one. */
  async report(follower: string): Promise<void> {
    this.log.error({ follower }, 'has been further than the log goes, and begins again');
    this.reported ??= `The log does not go as far as ${follower} has followed it.`;
    await this.look();
  }

  /** Compares the log with what was seen of it, and remembers how far it goes. Takes no longer for a long log. One look at a time. */
  look(): Promise<void> {
    return (this.looking = this.looking
      .then(() => this.lookNow())
      .catch((error: unknown) => this.log.error({ err: error }, 'the log could not be looked at')));
  }

  /** Why nothing may be appended; null when it may. A process that has not looked yet looks first. */
  async refusal(): Promise<DomainError | LogRefused | null> {
    if (this.readOnly) return new DomainError('service.read_only');
    if (!this.hasLooked) await (this.first ??= this.look().finally(() => (this.first = null)));
    return this.complaint === null ? null : new LogRefused(this.complaint);
  }

  /** Remembers how far the log went in the end, when this process may have appended to it. */
  async leave(): Promise<void> {
    if (this.hasLooked) await this.look();
  }

  /** What was seen against the log as it is now; changes nothing. Null when the log cannot be asked. The complaint is none of damage. */
  async compare() {
    // First what was seen, so that what is read of the log then is never older.
    const { memory, text } = await this.remembered();
    // One complaint is enough: what is reported beside it is accepted with it.
    if (memory.complaint !== null) this.reported = null;
    const found = await this.found();
    if (found === null) return null;
    const difference = found.damage === null ? differenceOf(memory.seen, found.extent, this.store) : null;
    return { memory, text, ...found, complaint: memory.complaint ?? this.reported ?? difference };
  }

  private async lookNow(): Promise<void> {
    for (;;) {
      const compared = await this.compare();
      if (compared === null) return;
      const { memory, text, damage, extent, complaint } = compared;
      this.hasLooked = true;
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
      const compared = await this.compare();
      if (compared === null) throw new NotAcceptable('The event store cannot be reached.');
      const { memory, text, damage, extent: found, complaint } = compared;
      if (damage !== null) throw new NotAcceptable(`${damage} That cannot be accepted: bring back a backup.`);
      if (complaint === null)
        throw new NotAcceptable('There is nothing to accept: the log goes at least as far as it was seen to go.');
      const acceptance = { at: at.toISOString(), by, reason, complaint, seenBefore: memory.seen, found };
      if (await this.write(text, { seen: found, complaint: null, accepted: [...memory.accepted, acceptance] }))
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
      if (this.remembers) this.log.warn({ err: error }, 'how far the log goes could not be written down');
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
    if (complaint === null) this.log.info('the log is as it was seen, or was accepted');
    else this.log.error({ complaint }, 'the log is not what it was');
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

/** What was accepted, by the content of WATCH_FILE. */
export function acceptancesIn(text: string | null): readonly Acceptance[] {
  return text === null ? [] : memoryIn(text).accepted;
}

function memoryIn(text: string): Memory {
  try {
    const value = JSON.parse(text) as Partial<Memory> | null;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...NOTHING, ...value } : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}
