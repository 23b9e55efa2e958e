// Checks whether the log is still the complete log that this installation has seen, and whether it may accept appends.
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

/** The end of a log as it was last seen. */
interface Extent {
  /** Positions have no meaning in another kind of store. */
  readonly store: string;
  readonly position: string;
  /** The id of the log's first event, which no other log has. */
  readonly firstEvent: string;
}

/** An operator's decision that the present log is the right one. */
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
  /** The complaint stays until an operator accepts the log, even if the log has grown past the remembered end. */
  readonly complaint: string | null;
  readonly accepted: readonly Acceptance[];
}

/** The small file that all processes of an installation share. */
export interface WatchFile {
  /** Null if no file exists. */
  read(): Promise<string | null>;
  /** Returns false and writes nothing when the content is no longer `before`. */
  replace(before: string | null, content: string): Promise<boolean>;
}

/** The name of the file in the data folder. */
export const WATCH_FILE = 'log-watch.json';
const NOTHING: Memory = { seen: null, complaint: null, accepted: [] };
const UNREADABLE: Memory = {
  ...NOTHING,
  complaint:
    'The last seen end of the log cannot be read: log-watch.json in the data folder is damaged or closed to the service.',
};

/** The operator has nothing to accept, or must not accept the log. The message gives the reason. */
export class NotAcceptable extends Error {
  override readonly name = 'NotAcceptable';
}

/**
 * Remembers the end of the log in a small file next to the log, so that the loss of Redis' data has no effect. A log that ends earlier or begins with
 * another event has lost events or was replaced. The number of events shows a gap. The service then reports the fault, is not ready, and appends
 * nothing until an operator accepts the log. The operator's reason is kept. In a new folder, such as a restored backup, no end is remembered. A loss
 * is then found only if Redis has a checkpoint beyond the end.
 */
export class LogWatch {
  /** The present fault as a sentence; null without a fault. */
  complaint: string | null = null;
  private reported: string | null = null;
  private hasLooked = false;
  private remembers = true;
  private looking: Promise<void> = Promise.resolve();
  /** The first check of this process. Appends that arrive earlier wait for its end. */
  private first: Promise<void> | null = null;

  constructor(
    private readonly events: EventStore,
    private readonly store: string,
    private readonly file: WatchFile,
    private readonly log: Log,
    private readonly readOnly = false,
  ) {}

  /** A subscription of the log has read beyond its end, so the log has lost events or is another log. */
  async report(follower: string): Promise<void> {
    this.log.error({ follower }, 'a follower has been beyond the end of the log, and begins again');
    this.reported ??= `The log does not go as far as ${follower} has followed it.`;
    await this.look();
  }

  /** Compares the log with its remembered end, and remembers the new end. The cost does not depend on the log's length. Checks run one by one. */
  look(): Promise<void> {
    return (this.looking = this.looking
      .then(() => this.lookNow())
      .catch((error: unknown) => this.log.error({ err: error }, 'the log could not be checked')));
  }

  /** The reason why appends are refused; null if they are allowed. A process that has not checked the log yet checks it first. */
  async refusal(): Promise<DomainError | LogRefused | null> {
    if (this.readOnly) return new DomainError('service.read_only');
    if (!this.hasLooked) await (this.first ??= this.look().finally(() => (this.first = null)));
    return this.complaint === null ? null : new LogRefused(this.complaint);
  }

  /** Remembers the final end of the log, when this process may have appended to it. */
  async leave(): Promise<void> {
    if (this.hasLooked) await this.look();
  }

  /** Compares the remembered end with the log and changes nothing. Null if the log cannot be read. Damage is not part of the complaint. */
  async compare() {
    // The remembered end is read before the log, so that the log's state is not older than the remembered end.
    const { memory, text } = await this.remembered();
    // A fault that was already reported adds no second complaint, because an operator accepts the two together.
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

  /** Remembers the present end of the log as the right one. Throws NotAcceptable. */
  async accept(by: string, reason: string, at: Date): Promise<Acceptance> {
    for (;;) {
      const compared = await this.compare();
      if (compared === null) throw new NotAcceptable('The event store cannot be reached.');
      const { memory, text, damage, extent: found, complaint } = compared;
      if (damage !== null) throw new NotAcceptable(`${damage} It cannot be accepted. Restore a backup.`);
      if (complaint === null)
        throw new NotAcceptable('There is nothing to accept: the log reaches at least its last seen end.');
      const acceptance = { at: at.toISOString(), by, reason, complaint, seenBefore: memory.seen, found };
      if (await this.write(text, { seen: found, complaint: null, accepted: [...memory.accepted, acceptance] }))
        return acceptance;
    }
  }

  /** A sentence about the damage of the log, or the end of an undamaged log. Null if the log cannot be read. */
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

  /** False if another process has written in the meantime. */
  private async remember(before: string | null, memory: Memory): Promise<boolean> {
    try {
      if (!(await this.write(before, memory))) return false;
      if (memory.complaint !== null) this.reported = null;
      this.remembers = true;
    } catch (error) {
      if (this.remembers) this.log.warn({ err: error }, 'the end of the log could not be remembered');
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

/** The acceptances in the content of WATCH_FILE. */
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
