// Seals the log: puts every event into the tree, and signs a checkpoint. One process at a time.
import { newId } from '../kernel/ids.js';
import { untilNextRound } from '../kernel/rounds.js';
import type { RecordedEvent } from '../kernel/domain-event.js';
import type { TagOf } from '../ports/case-tags.js';
import type { EventStore } from '../ports/event-store.js';
import type { HandlerCheckpoints } from '../ports/handler-checkpoints.js';
import type { TransparencyFiles } from '../ports/transparency-files.js';
import { Anchoring } from './anchoring.js';
import { checkpointText } from './checkpoint.js';
import { entryOf } from './event-entry.js';
import { CHECKPOINT, lastSigned, NEXT, SealBroken, type Signed } from './log-folder.js';
import {
  consistencyProof,
  EMPTY_ROOT,
  GrowingRoot,
  isConsistent,
  leafHash,
  rootOf,
  type TreeHead,
} from './merkle-tree.js';
import type { Outside } from './outside.js';
import type { SealKeys } from './seal-keys.js';
import type { Cosignable } from './witness.js';
import { entriesOf, grown, hashesIn, readTile, TILE_WIDTH, tilePath, TileUnusable, widthOf } from './tiles.js';

/** The log, and the files of its tree. */
export interface LogParts {
  /** The log as it is stored. */
  readonly store: EventStore;
  readonly tagOf: TagOf;
  readonly files: TransparencyFiles;
  readonly keys: SealKeys;
}

export interface SealerParts extends LogParts {
  readonly leases: Pick<HandlerCheckpoints, 'take' | 'release'>;
  readonly outside: Outside;
}

export interface SealerObserver {
  /** Alarm: nothing is signed any more. Null when sealing goes on. */
  stopped(reason: SealBroken | null): void;
  /** The sealer tries again. */
  failed(error: unknown): void;
  /** `waitingMs`: the time for which the oldest event without a checkpoint has waited. */
  sealed(size: number, waitingMs: number): void;
  /** A place outside took a checkpoint, or failed. Sealing goes on. */
  asked(place: string, problem: unknown): void;
  /** Checkpoints in the place can be replaced or removed. */
  weak(place: string, reason: string): void;
}

const NAME = 'sealer';
const OTHER_SEALER = 'Another process seals the log.';
const ROUND_MS = 1_000;
const LEASE_MS = 30_000;
const PAGE = 500;
/** A checkpoint is signed after this many events. */
const MANY = 1_000;
/** The number of entries that are in memory at once, a multiple of the width of a tile. */
const MOST = 65_536;
/** Where in the log the last checkpoint ends. Derived from the log, so it may be lost. */
const RESUME = 'resume.json';

/** The tree so far, and the last event that was read. */
interface Tree extends TreeHead {
  readonly last: RecordedEvent | null;
  /** The content of the published checkpoint. */
  readonly note: string | null;
}

export class Sealer {
  private readonly holder = newId();
  private tree: Tree | null = null;
  private waiting: { entries: Buffer[]; last: RecordedEvent | null; since: number } = nothing();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isStopping = false;
  private stopped = false;
  private tryAfter = 0;
  private readonly anchoring: Anchoring;

  constructor(
    private readonly parts: SealerParts,
    private readonly observer: SealerObserver,
    private readonly intervalMs: number,
    private readonly roundMs = ROUND_MS,
  ) {
    const { outside, files } = parts;
    this.anchoring = new Anchoring(outside, files, observer);
  }

  start(): void {
    this.timer = setTimeout(() => {
      this.running = this.round().finally(() => {
        if (!this.isStopping) this.start();
      });
    }, untilNextRound(this.roundMs));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.running;
    await this.parts.leases.release(NAME, this.holder).catch((error: unknown) => this.observer.failed(error));
  }

  private async round(): Promise<void> {
    if (performance.now() < this.tryAfter) return;
    try {
      if (await this.hasLease()) await this.sealAll();
    } catch (error) {
      this.begin(null);
      this.tryAfter = performance.now() + this.intervalMs;
      this.stopped = error instanceof SealBroken;
      if (error instanceof SealBroken) this.observer.stopped(error);
      else this.observer.failed(error);
    }
  }

  private async hasLease(): Promise<boolean> {
    const taken = await this.parts.leases.take(NAME, this.holder, LEASE_MS);
    if (!taken) this.begin(null);
    return taken;
  }

  private begin(tree: Tree | null): void {
    this.tree = tree;
    this.waiting = { ...nothing(), last: tree?.last ?? null };
  }

  /** Reads the new events, and signs when the time has come. */
  private async sealAll(): Promise<void> {
    if (this.tree === null) {
      this.begin(await this.open());
      if (this.stopped) this.observer.stopped(null);
      this.stopped = false;
    }
    for (let more = true; more && !this.isStopping;) {
      more = await this.read();
      const { length } = this.waiting.entries;
      if (more || length >= MANY || (length > 0 && this.waitedMs() >= this.intervalMs)) await this.seal();
    }
    this.observer.sealed(this.tree?.size ?? 0, this.waitedMs());
  }

  /** The time since the oldest event without a checkpoint was read. */
  private waitedMs(): number {
    const { entries, since } = this.waiting;
    return entries.length === 0 ? 0 : performance.now() - since;
  }

  /** False at the end of the log. */
  private async read(): Promise<boolean> {
    const { store, tagOf } = this.parts;
    const { waiting } = this;
    while (waiting.entries.length < MOST) {
      const page = await store.readAll(waiting.last?.position ?? null, Math.min(PAGE, MOST - waiting.entries.length));
      if (waiting.entries.length === 0) waiting.since = performance.now();
      for (const event of page) {
        waiting.entries.push(entryOf(event, await tagOf(event)));
        waiting.last = event;
      }
      if (page.length < PAGE) return false;
    }
    return true;
  }

  /** Signs first, then writes the tiles, then publishes the checkpoint. A process that dies in between leaves a checkpoint that others must continue. */
  private async seal(): Promise<void> {
    const { files, keys } = this.parts;
    const { tree, waiting } = this;
    if (tree === null) return;
    await this.refuseChanged(waiting.last);
    const size = tree.size + waiting.entries.length;
    const read = (path: string): Promise<Buffer | null> => files.read(path);
    const tiles = await grown(read, tree.size, waiting.entries);
    const hashes = hashesIn(async (path) => tiles.get(path) ?? read(path), size);
    const head = { size, root: await rootOf(size, hashes) };
    if (!isConsistent(tree, head, await consistencyProof(tree.size, size, hashes)))
      throw new SealBroken(`The tiles in transparency/ are not those of the checkpoint of ${tree.size} events.`);
    const note = keys.signer.note(checkpointText({ origin: keys.origin, ...head }));
    await files.write(NEXT, Buffer.from(note));
    for (const [path, content] of tiles) await files.write(path, content);
    const cosigned = await this.cosigned({ ...head, note, hashes }, tree.size);
    await this.publish({ ...head, last: waiting.last, note: cosigned }, tree.note);
    await this.anchoring.keep({ origin: keys.origin, ...head, note: cosigned });
    if (Math.floor(tree.size / TILE_WIDTH) < Math.floor(size / TILE_WIDTH)) await this.removePartial(tree.size, size);
  }

  /** The note with the cosignatures of the witnesses that answer. Throws SealBroken if a witness knows another history. */
  private async cosigned(tree: Cosignable, before: number): Promise<string> {
    const { witnesses } = this.parts.outside;
    if (witnesses.length > 0 && !(await this.hasLease())) throw new Error(OTHER_SEALER);
    const lines = await Promise.all(
      witnesses.map(async (witness) => {
        try {
          const line = await witness.cosign(tree, before);
          this.observer.asked(`witness ${witness.name}`, null);
          return line;
        } catch (error) {
          if (error instanceof SealBroken) throw error;
          this.observer.asked(`witness ${witness.name}`, error);
          return '';
        }
      }),
    );
    return tree.note + lines.join('');
  }

  private async publish(tree: Tree & { readonly note: string }, before: string | null): Promise<void> {
    const { files } = this.parts;
    if (!(await this.hasLease())) throw new Error(OTHER_SEALER);
    if (!(await files.replace(CHECKPOINT, before, tree.note)))
      throw new SealBroken(`transparency/${CHECKPOINT} is not the one that the sealer published last.`);
    await files.remove(NEXT);
    const { position, stream, revision } = tree.last ?? {};
    await files.write(RESUME, Buffer.from(JSON.stringify({ size: tree.size, position, stream, revision })));
    this.begin(tree);
  }

  /** The log may have lost its end since the event was read. */
  private async refuseChanged(event: RecordedEvent | null): Promise<void> {
    if (event !== null && (await this.stored(event)) === null)
      throw new SealBroken('The log has lost events that the sealer had read.');
  }

  private async stored({ stream, revision, position }: Place): Promise<RecordedEvent | null> {
    const [event] = await this.parts.store.readStream(stream, { from: revision, limit: 1 });
    return event?.revision === revision && event.position === position ? event : null;
  }

  /** The full tiles have replaced the partial ones of the earlier tree. */
  private async removePartial(before: number, size: number): Promise<void> {
    for (const level of ['entries', 0, 1, 2, 3, 4] as const) {
      const width = TILE_WIDTH ** (level === 'entries' ? 1 : level + 1);
      const index = Math.floor(before / width);
      if (index < Math.floor(size / width)) await this.parts.files.remove(`${tilePath(level, index)}.p`);
    }
  }

  /**
   * Continues the tree of the last checkpoint. Throws SealBroken if the files are not those of the checkpoint, or if the log ends differently.
   * `ops audit verify` compares the earlier events.
   */
  private async open(): Promise<Tree> {
    const { files, keys, outside } = this.parts;
    const signed = await lastSigned(files, keys);
    const { policy } = outside;
    if ((await files.read('policy'))?.toString() !== policy) await files.write('policy', Buffer.from(policy));
    if (signed === null) return { size: 0, root: EMPTY_ROOT, last: null, note: null };
    const last = (signed.isPublished ? await this.resumed(signed) : null) ?? (await this.rebuilt(signed));
    const hashes = hashesIn((path) => files.read(path), signed.size);
    const tree = { ...signed, last, note: await this.cosigned({ ...signed, hashes }, signed.size) };
    if (tree.note !== signed.note || !signed.isPublished)
      await this.publish(tree, (await files.read(CHECKPOINT))?.toString() ?? null);
    await this.anchoring.keep(tree);
    return tree;
  }

  /** The last event under the checkpoint. Null if the tiles or the remembered place do not fit the checkpoint. */
  private async resumed({ size, root }: Signed): Promise<RecordedEvent | null> {
    const { files, tagOf } = this.parts;
    const place = placeIn(await files.read(RESUME), size);
    if (place === null || !(await this.hasTiles({ size, root }))) return null;
    const event = await this.stored(place);
    if (event === null) return null;
    const read = (path: string): Promise<Buffer | null> => files.read(path);
    const entry = entriesOf(await readTile(read, 'entries', Math.floor((size - 1) / TILE_WIDTH), size)).at(-1);
    return entry?.equals(entryOf(event, await tagOf(event))) === true ? event : null;
  }

  /** Whether the right edge of the tree is there. */
  private async hasTiles({ size, root }: TreeHead): Promise<boolean> {
    const read = (path: string): Promise<Buffer | null> => this.parts.files.read(path);
    try {
      if (widthOf('entries', Math.floor(size / TILE_WIDTH), size) > 0)
        await readTile(read, 'entries', Math.floor(size / TILE_WIDTH), size);
      return (await rootOf(size, hashesIn(read, size))).equals(root);
    } catch (error) {
      if (error instanceof TileUnusable) return false;
      throw error;
    }
  }

  /** Reads the log from its beginning, and writes the tiles again if they are lost. No tile is written before the log has shown the signed root. */
  private async rebuilt({ size, root }: Signed): Promise<RecordedEvent | null> {
    const { files } = this.parts;
    const growing = new GrowingRoot();
    let last: RecordedEvent | null = null;
    for await (const [event, entry] of this.entriesUpTo(size)) {
      growing.add(leafHash(entry));
      last = event;
    }
    if (growing.size < size)
      throw new SealBroken(`The log has ${growing.size} events, but transparency/${CHECKPOINT} covers ${size}.`);
    if (!growing.root().equals(root))
      throw new SealBroken(
        `The log is not the one of transparency/${CHECKPOINT}; \`ops audit verify\` names the first bad event.`,
      );
    if (await this.hasTiles({ size, root })) return last;
    let [written, batch]: [number, Buffer[]] = [0, []];
    for await (const [, entry] of this.entriesUpTo(size)) {
      batch.push(entry);
      if (batch.length < MOST && written + batch.length < size) continue;
      for (const [path, content] of await grown((path) => files.read(path), written, batch))
        await files.write(path, content);
      [written, batch] = [written + batch.length, []];
      if (!(await this.hasLease())) throw new Error(OTHER_SEALER);
    }
    return last;
  }

  private async *entriesUpTo(size: number): AsyncGenerator<readonly [RecordedEvent, Buffer]> {
    let [after, left]: [string | null, number] = [null, size];
    while (left > 0) {
      const page: RecordedEvent[] = await this.parts.store.readAll(after, Math.min(PAGE, left));
      for (const event of page) yield [event, entryOf(event, await this.parts.tagOf(event))];
      if (page.length === 0) return;
      after = page.at(-1)?.position ?? after;
      left -= page.length;
    }
  }
}

type Place = Pick<RecordedEvent, 'position' | 'stream' | 'revision'>;

function nothing(): { entries: Buffer[]; last: null; since: number } {
  return { entries: [], last: null, since: 0 };
}

function placeIn(content: Buffer | null, size: number): Place | null {
  try {
    const place = JSON.parse(content?.toString() ?? 'null') as (Place & { readonly size: number }) | null;
    return place?.size === size ? place : null;
  } catch {
    return null;
  }
}
