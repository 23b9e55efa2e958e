// Compares the log with its last signed checkpoint and with the files of the tree; for `ops audit verify`.
import type { RecordedEvent } from '../kernel/domain-event.js';
import { NO_CASE } from '../ports/case-tags.js';
import { EventLogDamaged } from '../ports/event-store.js';
import { faultAt, type LogFault } from '../ports/inspectable-log.js';
import { entryOf } from './event-entry.js';
import { CHECKPOINT, lastSigned, SealBroken, type Signed } from './log-folder.js';
import { KeptCheckpoints } from './kept-checkpoints.js';
import { GrowingRoot, joined, leafHash } from './merkle-tree.js';
import type { Outside } from './outside.js';
import type { LogParts } from './sealer.js';
import { bundleOf, entriesOf, type Level, readTile, TILE_WIDTH, tilePath, TileUnusable, widthOf } from './tiles.js';

const PAGE = 500;

export interface TreeReport {
  /** The number of events under the last checkpoint. Null before the first checkpoint, and if the checkpoint cannot be used. */
  readonly sealed: number | null;
  readonly faults: readonly LogFault[];
  /** The number of checkpoints of places outside that were compared, and the places that could not be reached. Absent without such a place. */
  readonly outside?: { readonly compared: number; readonly unreached: KeptCheckpoints['unreached'] };
}

type Places = Pick<Outside, 'anchors' | 'witnesses'>;
const NOWHERE: Places = { anchors: [], witnesses: [] };

/**
 * If the log has the root of the checkpoint, each file that differs is a fault. Otherwise the first event that differs from its entry is a fault. The
 * root of the entries then shows whether the entries or the events are wrong. The service may run in the meantime.
 */
export async function verifyTree(parts: LogParts, places: Places = NOWHERE): Promise<TreeReport> {
  const { files, keys } = parts;
  try {
    const signed = await lastSigned(files, keys);
    const kept = await KeptCheckpoints.open(places, files, keys);
    const faults = signed === null ? [] : await new TreeAudit(parts, signed, kept).faults();
    const sizeNow = kept.next === Infinity ? 0 : ((await lastSigned(files, keys))?.size ?? 0);
    const found = [...faults, ...(await kept.faults(sizeNow))];
    const { compared, unreached } = kept;
    const hasPlaces = places.anchors.length + places.witnesses.length > 0;
    return { sealed: signed?.size ?? null, faults: found, ...(hasPlaces && { outside: { compared, unreached } }) };
  } catch (error) {
    if (error instanceof SealBroken) return { sealed: null, faults: [{ position: null, fault: error.message }] };
    if (error instanceof EventLogDamaged)
      return {
        sealed: null,
        faults: [{ position: null, fault: `the tree cannot be compared with a damaged log: ${error.message}` }],
      };
    throw error;
  }
}

class TreeAudit {
  /** The root of the events. */
  private readonly own = new GrowingRoot();
  /** The root of the entries in the files. */
  private readonly stored = new GrowingRoot();
  /** The hashes of each level that are not compared with their tile yet, and the number of compared tiles. */
  private readonly levels: { hashes: Buffer[]; tiles: number }[] = [];
  private firstBad: { readonly event: RecordedEvent; readonly fault: string } | null = null;
  private readonly badFiles: string[] = [];

  constructor(
    private readonly parts: LogParts,
    private readonly signed: Signed,
    private readonly kept: KeptCheckpoints,
  ) {}

  async faults(): Promise<LogFault[]> {
    const { size, root } = this.signed;
    const events = this.eventsUpTo(size);
    for (let index = 0; index * TILE_WIDTH < size; index++) await this.compare(index, events);
    for (let level = 0; level < this.levels.length; level++) await this.compareTile(level);
    const badFiles = this.badFiles.map((path) => ({
      position: null,
      fault: `transparency/${path} is missing, or is not the one of the checkpoint`,
    }));
    // After a killed process, the tiles of a checkpoint that is not published may be missing. The next sealer writes them.
    if (this.own.size === size && this.own.root().equals(root)) return this.signed.isPublished ? badFiles : [];
    const areEntriesRight = this.stored.size === size && this.stored.root().equals(root);
    return [...this.eventFaults(areEntriesRight), ...(areEntriesRight ? [] : badFiles)];
  }

  /** The log does not have the root of the checkpoint. */
  private *eventFaults(areEntriesRight: boolean): Generator<LogFault> {
    const { firstBad, own } = this;
    const { size } = this.signed;
    const doubt = areEntriesRight ? '' : ', or the entry was changed';
    if (firstBad !== null) yield faultAt(firstBad.event, `${firstBad.fault}${doubt}`);
    if (own.size < size)
      yield { position: null, fault: `the log has ${own.size} events, but transparency/${CHECKPOINT} covers ${size}` };
    else if (firstBad === null)
      yield { position: null, fault: `the log does not have the root of transparency/${CHECKPOINT}` };
  }

  /** Compares the events of one bundle with their entries. */
  private async compare(index: number, events: AsyncGenerator<RecordedEvent, void>): Promise<void> {
    const bundle = await this.tile('entries', index);
    const stored = bundle === null ? null : entriesOf(bundle);
    for (const entry of stored ?? []) this.stored.add(leafHash(entry));
    const own: Buffer[] = [];
    while (own.length < widthOf('entries', index, this.signed.size)) {
      const { value: event } = await events.next();
      if (!event) break;
      const entry = entryOf(event, await this.parts.tagOf(event));
      const sealed = stored?.[own.length];
      if (sealed?.equals(entry) === false) this.firstBad ??= { event, fault: faultOf(entry, sealed, this.own.size) };
      own.push(entry);
      await this.add(leafHash(entry));
    }
    if (bundle?.equals(bundleOf(own)) !== true) this.badFiles.push(this.pathOf('entries', index));
  }

  private async add(leaf: Buffer): Promise<void> {
    this.own.add(leaf);
    if (this.own.size === this.kept.next) await this.kept.compare(this.own);
    await this.addHash(0, leaf);
  }

  private async addHash(level: number, hash: Buffer): Promise<void> {
    const { hashes } = (this.levels[level] ??= { hashes: [], tiles: 0 });
    hashes.push(hash);
    if (hashes.length < TILE_WIDTH) return;
    await this.addHash(level + 1, joined(hashes));
    await this.compareTile(level);
  }

  private async compareTile(level: number): Promise<void> {
    const { hashes, tiles } = this.levels[level] ?? { hashes: [], tiles: 0 };
    if (hashes.length === 0) return;
    this.levels[level] = { hashes: [], tiles: tiles + 1 };
    const tile = await this.tile(level, tiles);
    if (tile?.equals(Buffer.concat(hashes)) !== true) this.badFiles.push(this.pathOf(level, tiles));
  }

  private pathOf(level: Level, index: number): string {
    return tilePath(level, index, widthOf(level, index, this.signed.size));
  }

  /** Null if the tile is missing or has another size. */
  private async tile(level: Level, index: number): Promise<Buffer | null> {
    try {
      return await readTile((path) => this.parts.files.read(path), level, index, this.signed.size);
    } catch (error) {
      if (error instanceof TileUnusable) return null;
      throw error;
    }
  }

  private async *eventsUpTo(size: number): AsyncGenerator<RecordedEvent, void> {
    let [after, left]: [string | null, number] = [null, size];
    while (left > 0) {
      const page = await this.parts.store.readAll(after, Math.min(PAGE, left));
      yield* page;
      if (page.length === 0) return;
      after = page.at(-1)?.position ?? after;
      left -= page.length;
    }
  }
}

function faultOf(entry: Buffer, sealed: Buffer, index: number): string {
  return entry.subarray(NO_CASE.length).equals(sealed.subarray(NO_CASE.length))
    ? `has another case than it had at index ${index}: the salt of its person is missing or was changed`
    : `is not the event that was sealed at index ${index}`;
}
