// The event store inside the process, on LMDB. LMDB is the default store when one machine is enough. Several processes on that machine may open the
// same directory and write to it. ./embedded-log.ts implements the layout on disk.
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedEvent } from '../../kernel/domain-event.js';
import { untilNextRound } from '../../kernel/rounds.js';
import {
  type AppendOutcome,
  type EventBatch,
  EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type StreamAppend,
  type StreamReadOptions,
  type SubscribeOptions,
  type TogetherOutcome,
} from '../../ports/event-store.js';
import type { InspectableLog, InspectedPage } from '../../ports/inspectable-log.js';
import type { SpaceUsage } from '../lmdb/space.js';
import { AppendBell } from './append-bell.js';
import { EmbeddedLog, eventText, LOG_FILE, type LogAppend, NO_STREAM, positionText } from './embedded-log.js';
import { checkTogether, type StorableAppend } from './storable.js';

export interface EmbeddedEventStoreOptions {
  /**
   * The directory is created when it does not exist. The directory must be on a local disk, because locks and maps do not work over a network file
   * system.
   */
  readonly directory: string;
  /** The largest size of the log. The space is not reserved in advance, and the size may be raised at any later start. */
  readonly mapSizeBytes?: number;
  /** Called when the log is nearly full, long before appends are refused. Called only once until the log has more room again. */
  readonly onNearlyFull?: (usage: SpaceUsage) => void;
  /** Whether appends are refused so that the last free space of the disk stays for other needs. */
  readonly diskFull?: () => boolean;
  /** Called when older events could not be compressed. The events stay uncompressed. Called only once until compression works again. */
  readonly onCompressionFailed?: (error: unknown) => void;
  /** The delay until a live subscription sees the append of another process that did not announce the append. Announced appends are seen at once. */
  readonly pollIntervalMs?: number;
  /** The number of newest events that stay uncompressed. Older events are compressed in groups of some hundred. */
  readonly uncompressedEvents?: number;
  /** The number of events in a segment. This number is the same for every process and for the life of the log. Only tests change this number. */
  readonly segmentEvents?: number;
  /** The time for which an append may wait for the disk and for other processes. The port promises an answer within 15 s. */
  readonly appendTimeoutMs?: number;
}

const DEFAULT_MAP_SIZE_BYTES = 16 * 2 ** 30;
const DEFAULT_POLL_INTERVAL_MS = 2_000;
/** The delay for processes that cannot notify each other. */
const DEAF_POLL_INTERVAL_MS = 50;
const DEFAULT_APPEND_TIMEOUT_MS = 12_000;

/** About the number of events that current work reads: open sessions, and work that is scheduled for later. */
export const UNCOMPRESSED_EVENTS = 65_536;
const SEGMENT_EVENTS = 256;
/** A segment is compressed after a quarter of its events were appended. The log of an earlier release is therefore compressed step by step. */
const SEGMENTS_PER_SEGMENT = 4;
/** The space for the pages of five trees that the write of a segment changes: three times the usual 300 pages. */
const SEGMENT_PAGES_BYTES = 1_000_000;

/** The limits of one transaction, so that other processes get their turn. */
const MAX_GROUP_APPENDS = 512;
const MAX_GROUP_BYTES = 8_000_000;
/** The bytes that may wait for the disk before appends are refused, so that a disk that hangs does not fill the memory. */
const MAX_QUEUED_BYTES = 64_000_000;

/** The largest number of events in one read. */
const PAGE = 500;

/** Appends that are stored together or not at all. */
interface QueuedAppends {
  readonly appends: readonly LogAppend[];
  readonly bytes: number;
  answer(outcome: TogetherOutcome): void;
  fail(error: EventStoreUnavailable): void;
}

export class EmbeddedEventStore extends EventStore implements InspectableLog {
  private readonly queue: QueuedAppends[] = [];
  private queuedBytes = 0;
  /** Settles when the queue is empty; null while no write is running. */
  private writing: Promise<void> | null = null;
  private closing: Promise<void> | null = null;
  /** The subscriptions that wait for an append. */
  private readonly waiting = new Set<() => void>();
  private appendedSinceCompressing = 0;
  /** Whether the last compression failed. */
  private compressionFailed = false;

  private constructor(
    private readonly log: EmbeddedLog,
    private readonly uncompressedEvents: number,
    private readonly compressAfterEvents: number,
    private readonly diskFull: () => boolean,
    private readonly onCompressionFailed: (error: unknown) => void,
    private readonly pollIntervalMs: number,
    private readonly appendTimeoutMs: number,
    private readonly bell: AppendBell,
  ) {
    super();
  }

  static open({
    directory,
    mapSizeBytes = DEFAULT_MAP_SIZE_BYTES,
    onNearlyFull,
    diskFull = () => false,
    onCompressionFailed = () => undefined,
    pollIntervalMs = DEFAULT_POLL_INTERVAL_MS,
    appendTimeoutMs = DEFAULT_APPEND_TIMEOUT_MS,
    uncompressedEvents = UNCOMPRESSED_EVENTS,
    segmentEvents = SEGMENT_EVENTS,
  }: EmbeddedEventStoreOptions): EmbeddedEventStore {
    return new EmbeddedEventStore(
      EmbeddedLog.open(directory, mapSizeBytes, segmentEvents, onNearlyFull),
      uncompressedEvents,
      segmentEvents / SEGMENTS_PER_SEGMENT,
      diskFull,
      onCompressionFailed,
      pollIntervalMs,
      appendTimeoutMs,
      new AppendBell(directory),
    );
  }

  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendOutcome> {
    const outcome = await this.appendTogether([{ stream, expected, events }]);
    if (outcome.outcome === 'conflict') return { outcome: 'conflict', current: outcome.current };
    return { outcome: 'appended', revision: outcome.revisions[0] as number };
  }

  /** Stores either all appends or none. */
  override async appendTogether(together: readonly StreamAppend[]): Promise<TogetherOutcome> {
    const storable = checkTogether(together);
    const appends = together.map(({ stream, expected, events }, place): LogAppend => {
      const first = expected === 'no-stream' ? NO_STREAM : expected;
      const texts = (storable[place] as StorableAppend).events.map(({ id, type, data, metadata }, index) => ({
        id,
        text: eventText({ stream, revision: first + 1 + index, id, type }, data, metadata),
        test: events[index]?.metadata['environment'] === 'test',
      }));
      return { stream, expected: first, events: texts };
    });
    const bytes = storable.reduce((sum, append) => sum + append.bytes, 0);
    this.refuseIfClosed();
    if (this.diskFull()) throw new EventStoreUnavailable('The disk is full');
    if (this.queuedBytes + bytes > MAX_QUEUED_BYTES)
      throw new EventStoreUnavailable('Too many bytes wait to be written');
    return new Promise<TogetherOutcome>((resolve, reject) => {
      const deadline = setTimeout(() => {
        // An append in the queue will never be written. An append that is being written may still be stored, so its outcome is unknown.
        const place = this.queue.indexOf(queued);
        if (place >= 0) this.take(place, 1);
        queued.fail(new EventStoreUnavailable(`No answer from the disk within ${this.appendTimeoutMs} ms`));
      }, this.appendTimeoutMs);
      const settle =
        <Value>(settlePromise: (value: Value) => void) =>
        (value: Value): void => {
          clearTimeout(deadline);
          settlePromise(value);
        };
      const queued: QueuedAppends = { appends, bytes, answer: settle(resolve), fail: settle(reject) };
      this.queue.push(queued);
      this.queuedBytes += bytes;
      this.writing ??= this.write();
    });
  }

  override async readStream(stream: string, options: StreamReadOptions = {}): Promise<RecordedEvent[]> {
    const head = this.read(() => this.log.headOf(stream));
    const { from, limit = Infinity, direction = 'forwards' } = options;
    const step = direction === 'forwards' ? 1 : -1;
    const first = direction === 'forwards' ? (from ?? 0) : Math.min(from ?? head, head);
    const last = direction === 'forwards' ? Math.min(head, first + limit - 1) : Math.max(0, first - limit + 1);
    const events: RecordedEvent[] = [];
    for (let next = first; (last - next) * step >= 0; next = first + step * events.length) {
      if (events.length > 0) await nextTurn();
      const until = step > 0 ? Math.min(last, next + PAGE - 1) : Math.max(last, next - PAGE + 1);
      events.push(...this.read(() => this.log.revisions(stream, next, until, step)));
    }
    return events;
  }

  override async readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let position = parsePosition(after); events.length < limit;) {
      if (events.length > 0) await nextTurn();
      const page = this.read(() => this.log.page(position, Math.min(PAGE, limit - events.length), null));
      events.push(...page.events);
      if (page.atEnd) break;
      position = page.through;
    }
    return events;
  }

  override async head(): Promise<string | null> {
    const head = this.read(() => this.log.head());
    return head === 0 ? null : positionText(head);
  }

  override async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, undefined> {
    const { after, categories, batchSize = PAGE, signal } = options;
    const limit = Math.max(1, Math.min(PAGE, batchSize));
    const wanted = categories === undefined ? null : new Set(categories);
    let position = parsePosition(after);
    let through = after;
    let toldOfEnd = false;
    this.bell.listen(() => this.wakeSubscriptions());
    while (!signal.aborted) {
      const page = this.read(() => this.log.page(position, limit, wanted));
      if (page.through > position || (page.atEnd && !toldOfEnd)) {
        if (page.through > position) through = positionText(page.through);
        position = page.through;
        toldOfEnd = page.atEnd;
        yield { events: page.events, through, caughtUp: page.atEnd };
        await nextTurn();
      } else {
        await this.moreToRead(signal);
      }
    }
  }

  override async ping(): Promise<void> {
    this.read(() => this.log.head());
  }

  async inspect(after: string | null): Promise<InspectedPage> {
    const position = parsePosition(after);
    await nextTurn();
    const { through, ...found } = this.read(() => this.log.inspect(position, PAGE));
    return { ...found, through: through === 0 ? null : positionText(through) };
  }

  missingEvents(): number {
    return this.read(() => this.log.missingEvents());
  }

  usage(): SpaceUsage {
    return this.read(() => this.log.space.usage());
  }

  /** Like `usage`. While much room is left, the value may be a moment old. */
  recentUsage(): SpaceUsage {
    return this.read(() => this.log.space.recentUsage());
  }

  /** Identifies only this log, as long as its file stays at its path. */
  id(): string {
    return this.log.id();
  }

  /** Compresses all old events, which otherwise happens step by step. Returns the number of events, or throws the error that stopped it. */
  async compress(): Promise<number> {
    for (let events = 0; ; events += this.compressAfterEvents * SEGMENTS_PER_SEGMENT) {
      this.refuseIfClosed();
      await this.writing;
      if (!(await this.compressOldest())) return events;
    }
  }

  /** The bytes of the log that the test environment uses, from all processes. An older log is counted from its first start with this version on. */
  testBytes(): number {
    return this.read(() => this.log.testBytes());
  }

  /** Whether the log has no room for another event. */
  isFull(): boolean {
    return this.read(() => this.log.space.lacking(0)) !== null;
  }

  /** Copies the log at one moment into a folder without a log, while processes read and write it. */
  async copyTo(directory: string): Promise<void> {
    this.refuseIfClosed();
    await this.log.copyTo(join(directory, LOG_FILE));
  }

  /** Queued appends are still written. New appends are refused. */
  override async close(): Promise<void> {
    this.closing ??= (async () => {
      await this.writing;
      this.wakeSubscriptions();
      this.bell.close();
      await this.log.close();
    })();
    await this.closing;
  }

  /** Group commit: appends that were queued while the disk was busy share the next transaction. */
  private async write(): Promise<void> {
    await nextTurn();
    while (this.queue.length > 0) {
      const group = this.nextGroup();
      try {
        this.refuseIfFull(group);
        const outcomes = await this.log.commit(group.map(({ appends }) => appends));
        for (const [index, queued] of group.entries()) queued.answer(outcomes[index] as TogetherOutcome);
        this.wakeSubscriptions();
        this.bell.ring();
        await this.compressAfter(group);
      } catch (error) {
        for (const queued of group) queued.fail(asUnavailable(error));
      }
    }
    this.writing = null;
  }

  /** Events that cannot be compressed now stay uncompressed until later. */
  private async compressAfter(group: readonly QueuedAppends[]): Promise<void> {
    for (const { appends } of group) for (const { events } of appends) this.appendedSinceCompressing += events.length;
    if (this.appendedSinceCompressing < this.compressAfterEvents || this.closing !== null) return;
    this.appendedSinceCompressing = 0;
    await this.compressOldest().catch(() => undefined);
  }

  /** False if no event is old enough. */
  private async compressOldest(): Promise<boolean> {
    try {
      const compressed = await this.log.compressOldest(this.uncompressedEvents, () => {
        if (this.diskFull() || this.log.space.lacking(SEGMENT_PAGES_BYTES) !== null)
          throw new EventStoreUnavailable('The log has no room to compress older events');
      });
      this.compressionFailed = false;
      return compressed;
    } catch (error) {
      if (!this.compressionFailed) this.onCompressionFailed(error);
      this.compressionFailed = true;
      throw asUnavailable(error);
    }
  }

  private nextGroup(): QueuedAppends[] {
    let bytes = 0;
    const tooMany = this.queue.findIndex((queued, index) => {
      bytes += queued.bytes;
      return index === MAX_GROUP_APPENDS || (index > 0 && bytes > MAX_GROUP_BYTES);
    });
    return this.take(0, tooMany < 0 ? this.queue.length : tooMany);
  }

  private take(start: number, count: number): QueuedAppends[] {
    const taken = this.queue.splice(start, count);
    for (const { bytes } of taken) this.queuedBytes -= bytes;
    return taken;
  }

  /** A full log must stay readable, so the store refuses appends before LMDB fails. */
  private refuseIfFull(group: readonly QueuedAppends[]): void {
    const full = this.log.space.lacking(group.reduce((sum, { bytes }) => sum + bytes, 0));
    if (full !== null)
      throw new EventStoreUnavailable(`The event log is full: ${full.usedBytes} of ${full.totalBytes} bytes used`);
  }

  private wakeSubscriptions(): void {
    for (const wake of this.waiting) wake();
  }

  /** Resolves at the next announced append, at the time to check for unannounced appends, on abort and on close. */
  private moreToRead(signal: AbortSignal): Promise<void> {
    const pollMs = this.bell.isHeard ? this.pollIntervalMs : Math.min(this.pollIntervalMs, DEAF_POLL_INTERVAL_MS);
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, untilNextRound(pollMs));
      signal.addEventListener('abort', wake);
      this.waiting.add(wake);
    });
  }

  private read<Result>(section: () => Result): Result {
    this.refuseIfClosed();
    try {
      return section();
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  private refuseIfClosed(): void {
    if (this.closing !== null) throw new EventStoreUnavailable('The event store is closed');
  }
}

function asUnavailable(error: unknown): EventStoreUnavailable {
  if (error instanceof EventStoreUnavailable) return error;
  return new EventStoreUnavailable('The event log cannot be read or written', { cause: error });
}

/** Position 0 is before the first event. */
function parsePosition(text: string | null): number {
  if (text === null) return 0;
  const position = Number(text);
  if (!/^[0-9]{20}$/.test(text) || !Number.isSafeInteger(position))
    throw new RangeError('Not a position of the embedded event store');
  return position;
}
