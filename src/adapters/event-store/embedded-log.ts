// The layout of the embedded store's log in LMDB. Only ./embedded.ts uses this layout. Reads are synchronous and short. Each read ends its read
// transaction, because an open transaction keeps LMDB from reusing pages and hides the appends of other processes. Older events are in segments: a
// fixed number of events that are compressed together (docs/adr/0021).
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { categoryOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { newId } from '../../kernel/ids.js';
import { EventLogDamaged, EventsUnreadable, type TogetherOutcome } from '../../ports/event-store.js';
import { faultAt, type LogFault } from '../../ports/inspectable-log.js';
import { syncFolderNow } from '../durable-files.js';
import { Space, type SpaceUsage } from '../lmdb/space.js';
import { packSegment, SegmentUnreadable, textsOf } from './segment.js';

/** An append to the log. The texts are complete except for the position, which the transaction adds. */
export interface LogAppend {
  readonly stream: string;
  /** The revision of the stream's last event; NO_STREAM when the stream must not exist. */
  readonly expected: number;
  /** `test`: whether the event belongs to the test environment. */
  readonly events: readonly { readonly id: string; readonly text: string; readonly test: boolean }[];
}

export const NO_STREAM = -1;

/** The result of checking an append. `current` is the revision of the last event in its stream. */
type Verdict =
  | { readonly is: 'conflict' | 'repeated'; readonly current: number }
  | { readonly is: 'new'; readonly current: number; readonly name: Bytes; readonly idKeys: readonly Bytes[] };

export interface LogPage {
  readonly events: RecordedEvent[];
  /** The last position that was read, or the requested position when no event followed it. */
  readonly through: number;
  /** Whether the log ended at `through` when it was read. */
  readonly atEnd: boolean;
}

export interface LogInspection {
  readonly events: RecordedEvent[];
  readonly faults: LogFault[];
  readonly through: number;
  readonly end: { readonly streams: number; readonly faults: readonly LogFault[] } | null;
}

/**
 * The number of characters that are read before the event loop gets a turn. Finding an event counts as `FINDING` characters, and opening a segment
 * (about 0.7 ms) as `OPENING`.
 */
const STRETCH = 1_000_000;
const FINDING = 500;
const OPENING = 125_000;

/** Written into the log at its creation. Another number means another layout, which this code must not change. */
const LAYOUT = '1';
/** The layout number from the first segment on, so that releases without segments do not open the log. */
const LAYOUT_WITH_SEGMENTS = '2';
const LAYOUT_ENTRY = Buffer.from('layout');
/** A single entry outside the trees: the characters of test events that were written since the entry exists. */
const TEST_CHARACTERS = Buffer.from('test-characters');
/** A single entry outside the trees: a random id that was made with the log. */
const LOG_ID = Buffer.from('log-id');
/** The bytes of the file for each character of an event, including its keys in four trees and the free space in their pages; measured. */
const BYTES_PER_CHARACTER = 1.5;
/** The memory for segments that were opened: about 25 segments of ordinary events. */
const OPENED_BYTES = 16 * 2 ** 20;
/** The name of the log in its folder. */
export const LOG_FILE = 'events.mdb';
const TEXT_START = '{"stream":"';

type Bytes = Buffer<ArrayBufferLike>;

/** The newest events that stay in memory, about 10 MB of ordinary events. Events longer than `KEPT_CHARACTERS` do not stay. */
const KEPT_EVENTS = 8_192;
const KEPT_CHARACTERS = 4_000;

interface KeptEvent {
  readonly position: number;
  readonly event: RecordedEvent;
}

export class EmbeddedLog {
  private constructor(
    private readonly root: RootDatabase<string, Bytes>,
    readonly space: Space,
    /** position -> the event as JSON, without the position */
    private readonly events: Database<string, Bytes>,
    /** stream, revision -> position */
    private readonly positions: Database<Bytes, Bytes>,
    /** stream -> revision of its last event */
    private readonly heads: Database<Bytes, Bytes>,
    /** stream, event id -> revision, for events outside segments */
    private readonly ids: Database<Bytes, Bytes>,
    /** first position -> the compressed texts of `segmentEvents` events */
    private readonly segments: Database<Bytes, Bytes>,
    private readonly segmentEvents: number,
  ) {}

  /** Recently opened segments. A segment never changes. */
  private readonly opened = new LRUCache<number, readonly string[]>({
    maxSize: OPENED_BYTES,
    sizeCalculation: bytesOfTexts,
  });
  /** The number of characters that were read since the last turn. */
  private spent = 0;
  /** An event's index in this array follows from its position. Most repeated reads follow soon after the append, and stored events never change. */
  private readonly kept: (KeptEvent | undefined)[] = new Array<undefined>(KEPT_EVENTS);
  /** The last position that this process has read. A process that reads the whole log does not cache old events. */
  private seen = 0;

  /** Opens the log in a directory, or creates it. Other processes may have opened the log, or open it at the same time. */
  static open(
    directory: string,
    mapSizeBytes: number,
    segmentEvents: number,
    onNearlyFull?: (usage: SpaceUsage) => void,
  ): EmbeddedLog {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = join(directory, LOG_FILE);
    const root = open<string, Bytes>({
      path: file,
      noSubdir: true,
      mapSize: mapSizeBytes,
      maxDbs: 8,
      encoding: 'string',
      keyEncoding: 'binary',
      // Without this setting, an event is visible before it is durable.
      overlappingSync: false,
      // The store groups commits itself. On a full disk, a promise of the library's batching would end the process as an unhandled rejection.
      eventTurnBatching: false,
    });
    // A new file is durable only after a sync of its folder.
    syncFolderNow(directory);
    const numbers = { encoding: 'binary', keyEncoding: 'binary' } as const;
    const log = new EmbeddedLog(
      root,
      new Space(root, file, mapSizeBytes, onNearlyFull),
      root.openDB<string, Bytes>({ name: 'events', encoding: 'string', keyEncoding: 'binary' }),
      root.openDB<Bytes, Bytes>({ name: 'positions', ...numbers }),
      root.openDB<Bytes, Bytes>({ name: 'heads', ...numbers }),
      root.openDB<Bytes, Bytes>({ name: 'ids', ...numbers }),
      root.openDB<Bytes, Bytes>({ name: 'segments', ...numbers }),
      segmentEvents,
    );
    log.claimLayout();
    return log;
  }

  /**
   * The identity of this log. A copy of the file has the same id but gets other events, so the identity includes the inode of the file. A snapshot of
   * a volume has the same inode, so the identity includes the boot of the machine too.
   */
  id(): string {
    return [this.entryMadeOnce(LOG_ID, newId()), statSync(this.space.file).ino, runOfMachine()].join('-');
  }

  /**
   * Writes the group in one transaction, which is durable when this resolves. If it rejects, nothing is stored. Each member of the group is decided
   * separately. Either all appends of a member to different streams are stored, or none.
   */
  async commit(group: readonly (readonly LogAppend[])[]): Promise<TogetherOutcome[]> {
    return this.inTransaction(() => {
      const log = { head: this.lastPosition(), testCharacters: 0 };
      const outcomes = group.map((appends) => this.apply(appends, log));
      this.seen = log.head;
      if (log.testCharacters > 0)
        this.root.putSync(TEST_CHARACTERS, String(this.testCharacters() + log.testCharacters));
      return outcomes;
    });
  }

  /** The position of the newest event; 0 when the log is empty. */
  head(): number {
    return this.read(() => this.lastPosition());
  }

  /** At most `limit` events of these categories. */
  page(after: number, limit: number, categories: ReadonlySet<string> | null): LogPage {
    return this.read(() => {
      const events: RecordedEvent[] = [];
      let through = after;
      this.seen = this.lastPosition();
      for (const until = this.spent + STRETCH; ;) {
        const kept = this.keptAt(through + 1);
        const text = kept === undefined ? this.textAt(through + 1) : '';
        if (text === undefined) {
          // Only the position after the newest event may be empty. If a gap looked like the end, all later events would be hidden.
          if (through < this.seen)
            throw new EventLogDamaged(`The event at position ${positionText(through + 1)} is missing from the log`);
          return { events, through, atEnd: true };
        }
        if (events.length >= limit || (through > after && this.spent >= until))
          return { events, through, atEnd: false };
        through++;
        // The category is read from the text, because a filtered subscription skips most events and need not parse them.
        const isWanted =
          categories === null ||
          categories.has(
            kept ? categoryOf(kept.stream) : text.slice(TEXT_START.length, text.indexOf('-', TEXT_START.length)),
          );
        if (isWanted) events.push(kept ?? this.keep(text, through));
      }
    });
  }

  /** The revision of the stream's last event; NO_STREAM if none exists. */
  headOf(stream: string): number {
    return this.read(() => this.lastRevision(Buffer.from(stream, 'latin1')));
  }

  /** The events from `first`, in steps of `step`, until `last` or the next turn of the event loop. The revisions must exist. */
  revisions(stream: string, first: number, last: number, step: 1 | -1): RecordedEvent[] {
    return this.read(() => {
      const name = Buffer.from(stream, 'latin1');
      const events: RecordedEvent[] = [];
      const until = this.spent + STRETCH;
      for (let revision = first; (last - revision) * step >= 0 && this.spent < until; revision += step) {
        const position = this.positions.get(pairKey(name, numberKey(revision)));
        const found = position && this.eventAt(numberOf(position));
        if (found?.stream !== stream || found.revision !== revision) {
          const isGap = position !== undefined && !found && numberOf(position) < this.lastPosition();
          throw new (isGap ? EventsUnreadable : EventLogDamaged)(
            `Revision ${revision} of ${stream} is ${found ? 'another event' : 'missing'} in the log`,
          );
        }
        events.push(found);
      }
      return events;
    });
  }

  /** The estimated bytes of the file for events of the test environment, computed from their length. */
  testBytes(): number {
    return this.read(() => this.testCharacters() * BYTES_PER_CHARACTER);
  }

  /**
   * Reads the log from a position, continues after every fault, and reports the faults: gaps, unreadable events, and indexes that disagree with an
   * event. The end of the log reports an index with more entries than events. If every event has its entry and the numbers are equal, the index has
   * no wrong entry.
   */
  inspect(after: number, limit: number): LogInspection {
    return this.read(() => {
      const last = this.lastPosition();
      const events: RecordedEvent[] = [];
      const faults: LogFault[] = [];
      let through = after;
      for (let looked = 0; through < last && looked < limit; looked++) {
        const position = through + 1;
        const found = attempt(() => this.textAt(position));
        if (found instanceof Error || found === undefined) {
          const until = found instanceof Error ? lastUnreadable(found, position) : this.endOfGap(position, last);
          faults.push(
            gap(position, until, found === undefined ? 'missing from the log' : `cannot be read: ${found.message}`),
          );
          through = until;
          continue;
        }
        through = position;
        const event = readable(found, position);
        if ('fault' in event) {
          faults.push(event);
          continue;
        }
        const fault = attempt(() => this.indexFault(event, position));
        if (fault !== null)
          faults.push(faultAt(event, fault instanceof Error ? `its index cannot be read: ${fault.message}` : fault));
        events.push(event);
      }
      return { events, faults, through, end: through < last ? null : this.totals(after, last) };
    });
  }

  /** The last position minus the number of events. The position and the number are known without reading the log. */
  missingEvents(): number {
    return this.read(() => this.lastPosition() - this.eventCount());
  }

  /**
   * Replaces the oldest events outside segments by a segment, in one transaction. False if these events do not fill a segment before the `keep`
   * newest events, or when one is missing. Another process may do the same at the same time. `admit` throws when the segment has no room.
   */
  async compressOldest(keep: number, admit: () => void): Promise<boolean> {
    const oldest = this.read(() => this.oldest(keep));
    if (oldest === null) return false;
    admit();
    const { first, texts } = oldest;
    const events = texts.map((text, index) => recorded(text, first + index));
    // The compression takes some milliseconds and runs in a thread.
    const packed = await packSegment(texts);
    const lengthOf = (wanted: readonly string[]): number => wanted.reduce((sum, { length }) => sum + length, 0);
    const ofTest = lengthOf(texts.filter((_, index) => events[index]?.metadata['environment'] === 'test'));
    await this.inTransaction(() => {
      if (!this.events.doesExist(numberKey(first))) return;
      this.segments.putSync(numberKey(first), packed);
      for (const { stream, id, position } of events) {
        const place = Number(position);
        // The event counts as old from now on. A newer event may already use its index in the array.
        if (this.keptAt(place) !== undefined) this.kept[place % KEPT_EVENTS] = undefined;
        this.events.removeSync(numberKey(place));
        this.ids.removeSync(pairKey(Buffer.from(stream, 'latin1'), idBytes(id)));
      }
      const share = (ofTest / lengthOf(texts)) * (packed.length / BYTES_PER_CHARACTER);
      const left = Math.max(0, Math.round(this.testCharacters() - ofTest + share));
      this.root.putSync(TEST_CHARACTERS, String(left));
      this.root.putSync(LAYOUT_ENTRY, LAYOUT_WITH_SEGMENTS);
    });
    return true;
  }

  private oldest(keep: number): { readonly first: number; readonly texts: readonly string[] } | null {
    const [first] = this.events.getKeys({ limit: 1 }).map(numberOf);
    // The newest event stays outside segments, because its position is the head.
    if (first === undefined || first + this.segmentEvents - 1 + keep >= this.lastPosition()) return null;
    const texts = Array.from({ length: this.segmentEvents }, (_, index) => this.events.get(numberKey(first + index)));
    const isWhole = (first - 1) % this.segmentEvents === 0 && texts.every((text) => text !== undefined);
    return isWhole ? { first, texts } : null;
  }

  /** Copies the log at one moment into a file that must not exist. Appends and reads continue during the copy. */
  async copyTo(file: string): Promise<void> {
    await this.root.backup(file, true);
  }

  async close(): Promise<void> {
    await this.root.close();
  }

  private async inTransaction<Result>(work: () => Result): Promise<Result> {
    try {
      // A child transaction is used, because an exception in an ordinary transaction would still commit the earlier writes.
      return await this.root.childTransaction(work);
    } catch (error) {
      // The library gives the reason in a second promise, which would be an unhandled rejection without this await.
      if (error instanceof Error && 'commitError' in error) throw await reasonOf(error.commitError);
      throw error;
    }
  }

  private keptAt(position: number): RecordedEvent | undefined {
    this.spent += FINDING;
    const kept = this.kept[position % KEPT_EVENTS];
    return kept?.position === position ? kept.event : undefined;
  }

  /** Keeps the event in memory if it is one of the newest. */
  private keep(text: string, position: number): RecordedEvent {
    const event = recorded(text, position);
    this.spent += text.length;
    if (position > this.seen - KEPT_EVENTS && text.length <= KEPT_CHARACTERS)
      this.kept[position % KEPT_EVENTS] = { position, event };
    return event;
  }

  /** Undefined if the log has no event there. Throws SegmentUnreadable, and EventLogDamaged for a text that is not an event. */
  private eventAt(position: number): RecordedEvent | undefined {
    const kept = this.keptAt(position);
    if (kept !== undefined) return kept;
    const text = this.textAt(position);
    return text === undefined ? undefined : this.keep(text, position);
  }

  /** The text of the event at a position, in or outside a segment. Throws SegmentUnreadable. */
  private textAt(position: number): string | undefined {
    const index = (position - 1) % this.segmentEvents;
    const first = position - index;
    const opened = this.opened.get(first);
    if (opened !== undefined) return opened[index];
    const text = this.events.get(numberKey(position));
    const packed = text === undefined ? this.segments.get(numberKey(first)) : undefined;
    if (packed === undefined) return text;
    const texts = textsOf(packed, first, this.segmentEvents);
    this.opened.set(first, texts);
    this.spent += OPENING;
    return texts[index];
  }

  private eventCount(): number {
    return entriesOf(this.events) + this.compressedCount();
  }

  private compressedCount(): number {
    return entriesOf(this.segments) * this.segmentEvents;
  }

  private apply(appends: readonly LogAppend[], log: { head: number; testCharacters: number }): TogetherOutcome {
    // All appends are checked before the first is stored, because after a refusal the transaction continues with the other members of its group.
    const verdicts = appends.map((append) => this.judge(append));
    const index = verdicts.findIndex(({ is }) => is === 'conflict');
    if (index >= 0) {
      const { current } = verdicts[index] as Verdict;
      return { outcome: 'conflict', index, current: current === NO_STREAM ? 'no-stream' : current, stored: 0 };
    }
    for (const [place, verdict] of verdicts.entries())
      if (verdict.is === 'new') this.store(appends[place] as LogAppend, verdict, log);
    return { outcome: 'appended', revisions: appends.map(({ expected, events }) => expected + events.length) };
  }

  private judge({ stream, expected, events }: LogAppend): Verdict {
    const name = Buffer.from(stream, 'latin1');
    const current = this.lastRevision(name);
    if (current < expected) return { is: 'conflict', current };
    const idKeys = events.map(({ id }) => pairKey(name, idBytes(id)));
    if (current > expected) {
      const repeated = events.every(({ id }, index) => this.idAt(stream, name, expected + 1 + index) === id);
      return { is: repeated ? 'repeated' : 'conflict', current };
    }
    if (current !== NO_STREAM && idKeys.some((idKey) => this.ids.doesExist(idKey))) return { is: 'conflict', current };
    return { is: 'new', current, name, idKeys };
  }

  /** Null for a missing or unreadable event. A reader of the stream gets the error. */
  private idAt(stream: string, name: Bytes, revision: number): string | null {
    const position = this.positions.get(pairKey(name, numberKey(revision)));
    const text = position && attempt(() => this.textAt(numberOf(position)));
    if (!position || typeof text !== 'string' || !text.startsWith(eventStart(stream, revision))) return null;
    return recorded(text, numberOf(position)).id;
  }

  private store(
    { events }: LogAppend,
    { current, name, idKeys }: Extract<Verdict, { is: 'new' }>,
    log: { head: number; testCharacters: number },
  ): void {
    let revision = current;
    for (const [index, { text, test }] of events.entries()) {
      const position = numberKey(++log.head);
      const revisionKey = numberKey(++revision);
      // `append` fills pages completely. An ordinary put in ascending order leaves pages half empty.
      this.events.putSync(position, text, { append: true });
      this.positions.putSync(pairKey(name, revisionKey), position);
      this.ids.putSync(idKeys[index] as Bytes, revisionKey);
      if (test) log.testCharacters += text.length;
    }
    this.heads.putSync(name, numberKey(revision));
  }

  private testCharacters(): number {
    return Number(this.root.get(TEST_CHARACTERS) ?? 0);
  }

  private lastPosition(): number {
    for (const last of this.events.getKeys({ reverse: true, limit: 1 })) return numberOf(last);
    return 0;
  }

  private lastRevision(name: Bytes): number {
    const head = this.heads.get(name);
    return head === undefined ? NO_STREAM : numberOf(head);
  }

  /** The last position of the gap that begins here. */
  private endOfGap(position: number, last: number): number {
    const next = [this.segments, this.events].flatMap((tree) => [
      ...tree.getKeys({ start: numberKey(position), limit: 1 }).map(numberOf),
    ]);
    return Math.max(position, Math.min(last, ...next.map((found) => found - 1)));
  }

  /** How the indexes disagree with the event; null if they agree. */
  private indexFault({ stream, revision, id }: RecordedEvent, position: number): string | null {
    const name = Buffer.from(stream, 'latin1');
    const indexed = this.positions.get(pairKey(name, numberKey(revision)));
    if (indexed === undefined) return 'not in the index of revisions';
    if (numberOf(indexed) !== position)
      return `the index of revisions says position ${positionText(numberOf(indexed))}`;
    if (this.events.doesExist(numberKey(position))) {
      const byId = this.ids.get(pairKey(name, idBytes(id)));
      if (byId === undefined) return 'not in the index of event ids';
      if (numberOf(byId) !== revision) return `the index of event ids says revision ${numberOf(byId)}`;
    }
    const head = this.lastRevision(name);
    if (head < revision)
      return head === NO_STREAM
        ? 'its stream is not in the index of streams'
        : `the index of streams ends its stream at revision ${head}`;
    if (head > revision && !this.positions.doesExist(pairKey(name, numberKey(head))))
      return `the index of streams ends its stream at revision ${head}, which does not exist`;
    return null;
  }

  private totals(after: number, last: number): NonNullable<LogInspection['end']> {
    const faults = [
      ...(after > last
        ? [{ position: positionText(last), fault: `the log ends here, before position ${positionText(after)}` }]
        : []),
      ...(
        [
          ['events', this.eventCount(), last],
          ['revisions', entriesOf(this.positions), last],
          ['event ids', entriesOf(this.ids), last - this.compressedCount()],
        ] as const
      )
        .filter(([, entries, belong]) => entries !== belong)
        .map(([name, entries, belong]) => ({
          position: null,
          fault: `the index of ${name} has ${entries} entries where ${belong} belong`,
        })),
    ];
    return { streams: entriesOf(this.heads), faults };
  }

  private claimLayout(): void {
    const layout = this.entryMadeOnce(LAYOUT_ENTRY, LAYOUT);
    if (![LAYOUT, LAYOUT_WITH_SEGMENTS].includes(layout))
      throw new Error(
        `The event log has layout ${layout}; this version reads layouts ${LAYOUT} and ${LAYOUT_WITH_SEGMENTS}`,
      );
  }

  private entryMadeOnce(entry: Buffer, value: string): string {
    return this.root.transactionSync(() => {
      const found = this.root.get(entry);
      if (found === undefined) this.root.putSync(entry, value);
      return found ?? value;
    });
  }

  private read<Result>(section: () => Result): Result {
    try {
      return section();
    } finally {
      this.root.resetReadTxn();
    }
  }
}

/** The text of an event. `page` reads the category from its beginning. */
export function eventText(
  { stream, revision, id, type }: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'>,
  data: string,
  metadata: string,
): string {
  return `${eventStart(stream, revision)}"id":"${id}","type":"${type}","data":${data},"metadata":${metadata}}`;
}

function eventStart(stream: string, revision: number): string {
  return `${TEXT_START}${stream}","revision":${revision},`;
}

/** The position in the form that the port uses. */
export function positionText(position: number): string {
  return String(position).padStart(20, '0');
}

function recorded(text: string, position: number): RecordedEvent {
  const event = readable(text, position);
  if ('fault' in event) {
    const { stream, revision } = event;
    throw new EventLogDamaged(
      `The event at position ${positionText(position)}${stream === undefined ? '' : `, revision ${revision} of ${stream},`} is ${event.fault}`,
    );
  }
  return event;
}

/** The parser's own message would quote the text. */
function readable(text: string, position: number): RecordedEvent | LogFault {
  try {
    const event = JSON.parse(text) as { -readonly [Field in keyof RecordedEvent]: RecordedEvent[Field] };
    event.position = positionText(position);
    if (isEvent(event)) return event;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const [, stream, revision] = /^\{"stream":"([^"]+)","revision":(\d+),/.exec(text) ?? [];
  return {
    position: positionText(position),
    ...(stream !== undefined && { stream, revision: Number(revision) }),
    fault: 'unreadable',
  };
}

function isEvent({ stream, revision, id, type, data, metadata }: Partial<RecordedEvent>): boolean {
  const texts = [stream, id, type].every((text) => typeof text === 'string');
  return (
    texts &&
    Number.isSafeInteger(revision) &&
    [data, metadata].every((part) => typeof part === 'object' && part !== null)
  );
}

function gap(from: number, until: number, fault: string): LogFault {
  return { position: positionText(from), ...(until > from && { through: positionText(until) }), fault };
}

/** A segment is unreadable as a whole. */
function lastUnreadable(error: Error, position: number): number {
  return error instanceof SegmentUnreadable ? error.last : position;
}

/** LMDB throws when it cannot follow its own pages. An inspection continues after the fault. */
function attempt<Result>(look: () => Result): Result | Error {
  try {
    return look();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function entriesOf(tree: Database<string, Bytes> | Database<Bytes, Bytes>): number {
  return (tree.getStats() as { entryCount: number }).entryCount;
}

/** Eight bytes, big end first, so that keys sort like the numbers. */
function numberKey(value: number): Bytes {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), 0);
  bytes.writeUInt32BE(value % 2 ** 32, 4);
  return bytes;
}

function numberOf(bytes: Bytes): number {
  return bytes.readUInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4);
}

function idBytes(id: string): Bytes {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** The second part has the same length in all keys of a tree, so that different pairs make different keys. */
function pairKey(stream: Bytes, part: Bytes): Bytes {
  return Buffer.concat([stream, part]);
}

async function reasonOf(commitError: unknown): Promise<unknown> {
  try {
    await commitError;
    return new Error('The commit failed');
  } catch (reason) {
    return reason;
  }
}

/** An id that is the same for all processes of a machine until the machine restarts. Empty when the system does not report the id. */
function runOfMachine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The upper limit of the length. An ASCII text needs half as many bytes. */
function bytesOfTexts(texts: readonly string[]): number {
  return texts.reduce((bytes, { length }) => bytes + 2 * length, 0);
}
