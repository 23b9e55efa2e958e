import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import {
  type AnyProjection,
  type Checkpoint,
  type CommitFault,
  type DocumentWrite,
  type ProjectionStore,
  SHARDS,
  type ShardCommit,
  shardOf,
} from '../../ports/projection-store.js';

/** A projection could not read an event of its category. Its data is not told. */
export class ProjectionFailed extends Error {
  override readonly name = 'ProjectionFailed';

  constructor(
    readonly projection: string,
    event: RecordedEvent,
    cause: unknown,
  ) {
    super(`${projection} cannot read ${event.type}, revision ${event.revision} of ${event.stream}`, { cause });
  }
}

/** The store of the projections took nothing of a commit; the writer has to begin again from what is stored. */
export class CommitRefused extends Error {
  override readonly name = 'CommitRefused';

  constructor(
    readonly fault: CommitFault,
    projection: string,
  ) {
    super(`A commit of ${projection} was refused: ${fault}`);
  }
}

/** A document in memory, as of the events folded so far. */
interface Held {
  readonly id: string;
  readonly shard: number;
  revision: number;
  doc: object;
}

/** What the documents that a writer remembers may take, so that the next event of a stream needs no read. */
const REMEMBERED_BYTES = 8 * 2 ** 20;

/**
 * Folds the log into one generation of one projection: in memory, each document written once a commit, however many events it
 * saw. Lives from one claim to the first fault; what it remembers is worth nothing after that.
 */
export class GenerationWriter {
  /** Where the log is to be read from: what the shard furthest behind has. */
  readonly start: string | null;
  /** What has been committed at least. */
  committed: string | null;
  private through: string | null;
  private readonly positions: (string | null)[];
  private readonly touched = new Map<string, Held>();
  private readonly remembered = new BoundedMemory<Held>(REMEMBERED_BYTES);

  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    readonly projection: AnyProjection,
    private readonly generation: number,
    private readonly fence: number,
    checkpoints: readonly Checkpoint[],
    private readonly onGap: (stream: string) => void,
  ) {
    this.positions = checkpoints.map(({ position }) => position);
    const sorted = this.positions.map((position) => position ?? '').sort();
    this.start = sorted[0] ? sorted[0] : null;
    this.through = this.start;
    this.committed = this.start;
  }

  /**
   * Takes in events of the projection's category, in order. Events that a document has seen change nothing: shards are not all at
   * the same place. Throws ProjectionFailed; after any error this writer is useless.
   */
  async fold(events: readonly RecordedEvent[], through: string | null): Promise<void> {
    const known = await this.known(events);
    for (const event of events) {
      let held = this.touched.get(event.stream) ?? known.get(event.stream);
      if (event.revision > (held?.revision ?? -1) + 1) {
        // The log delivers a stream without gaps: what is stored is not what was written, so the stream itself decides.
        this.onGap(event.stream);
        held = await this.foldWhole(event);
      } else if (held === undefined) {
        const id = idOf(event.stream);
        held = { id, shard: shardOf(id), revision: event.revision, doc: this.evolve(null, event) };
      } else if (event.revision === held.revision + 1) {
        held.doc = this.evolve(held.doc, event);
        held.revision = event.revision;
      }
      this.touched.set(event.stream, held);
    }
    if (through !== null && (this.through === null || through > this.through)) this.through = through;
  }

  /**
   * Commits what was folded. The commands have been issued, in order, when this returns; the promise says how they went. A shard
   * without news keeps its checkpoint unless `idle` ones are to move too.
   */
  commit(log: string | null, { idle }: { readonly idle: boolean }): Promise<void> {
    const { through } = this;
    const writes = Array.from({ length: SHARDS }, (): DocumentWrite[] => []);
    for (const [stream, held] of this.touched) {
      writes[held.shard]?.push({ id: held.id, revision: held.revision, doc: held.doc });
      this.remembered.set(stream, held);
    }
    this.touched.clear();
    const commits: ShardCommit[] = [];
    for (const [shard, documents] of writes.entries()) {
      const expected = this.positions[shard] ?? null;
      const behind = through !== null && (expected === null || through > expected);
      if (documents.length === 0 && !(idle && behind)) continue;
      const next = behind ? through : expected;
      this.positions[shard] = next;
      commits.push({ shard, expected, next, log, writes: documents });
    }
    if (commits.length === 0) {
      this.committed = through;
      return Promise.resolve();
    }
    return this.store.commit(this.projection, this.generation, this.fence, commits).then((fault) => {
      if (fault !== null) throw new CommitRefused(fault, this.projection.name);
      this.committed = through;
    });
  }

  /** The documents of streams that go on in these events; those that are not in memory are read, in one round trip. */
  private async known(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, Held>> {
    const known = new Map<string, Held>();
    const missing = new Map<string, string>();
    const begun = new Set<string>();
    for (const { stream, revision } of events) {
      const held = this.touched.get(stream) ?? this.remembered.get(stream);
      if (held !== undefined) known.set(stream, held);
      else if (revision === 0) begun.add(stream);
      else if (!begun.has(stream)) missing.set(idOf(stream), stream);
    }
    if (missing.size === 0) return known;
    const stored = await this.store.documents(this.projection, this.generation, [...missing.keys()]);
    for (const [id, { revision, doc }] of stored) {
      const stream = missing.get(id);
      if (stream !== undefined) known.set(stream, { id, shard: shardOf(id), revision, doc });
    }
    return known;
  }

  private async foldWhole(event: RecordedEvent): Promise<Held> {
    const history = await this.events.readStream(event.stream);
    let doc: object | null = null;
    for (const past of history) doc = this.evolve(doc, past);
    const last = history.at(-1);
    if (doc === null || last === undefined)
      throw new ProjectionFailed(this.projection.name, event, new Error('its stream is empty'));
    const id = idOf(event.stream);
    return { id, shard: shardOf(id), revision: last.revision, doc };
  }

  private evolve(doc: object | null, event: RecordedEvent): object {
    try {
      return this.projection.evolve(doc, event);
    } catch (cause) {
      throw new ProjectionFailed(this.projection.name, event, cause);
    }
  }
}
