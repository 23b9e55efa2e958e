import { LRUCache } from 'lru-cache';
import { idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { cachedBytes } from '../../kernel/json.js';
import { together } from '../../kernel/together.js';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, Checkpoint, CommitFault, ProjectionStore } from '../../ports/projection-store.js';

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

/** The store of the projections did not take a commit; the writer has to begin again from what is stored. */
export class CommitRefused extends Error {
  override readonly name = 'CommitRefused';

  constructor(
    readonly fault: CommitFault,
    projection: string,
  ) {
    super(`A commit of ${projection} was refused: ${fault}`);
  }
}

/** One generation of one projection, to be written under one lease. */
export interface Track {
  readonly projection: AnyProjection;
  readonly generation: number;
}

/** A stream as of the events folded so far. */
interface Folded {
  readonly revision: number;
  readonly state: unknown;
  readonly occurredAt: string;
}

/** What the states that a writer remembers may take, so that the next event of a stream needs no read. */
const REMEMBERED_BYTES = 8 * 2 ** 20;
/** One of so many states is reckoned, and the next ones are taken to be as large: reckoning is as dear as folding. */
const RECKONED_EVERY = 16;
/** Streams that are read from the log at the same time. */
const READ_TOGETHER = 16;

/**
 * Folds the log into one generation of one projection: in memory, each document written once a commit, however many events it
 * saw. A stream that is not in memory is folded from the log, never from what is stored. Lives from one claim to the first
 * fault; what it remembers is worth nothing after that.
 */
export class GenerationWriter {
  /** What has been committed at least. */
  committed: string | null;
  private through: string | null;
  /** The checkpoint as stored. */
  private position: string | null;
  private touched = new Map<string, Folded>();
  private readonly remembered = new LRUCache<string, Folded>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (folded) => this.bytesOf(folded),
  });
  private remembering = 0;
  private reckoned = 0;

  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly track: Track,
    private readonly token: string,
    { position }: Checkpoint,
  ) {
    this.position = position;
    this.through = position;
    this.committed = position;
  }

  /** Takes in events of the projection's category, in order. Throws ProjectionFailed; after any error this writer is useless. */
  async fold(events: readonly RecordedEvent[], through: string | null): Promise<void> {
    const known = await this.known(events);
    for (const event of events) {
      const before = this.touched.get(event.stream) ?? known.get(event.stream);
      // A stream that was read whole is ahead of the events that come.
      if (before !== undefined && event.revision <= before.revision) continue;
      this.touched.set(event.stream, this.evolve(before, event));
    }
    this.pass(through);
  }

  /** Between what it has taken in and that place there is nothing for it. */
  pass(through: string | null): void {
    if (through !== null && (this.through === null || through > this.through)) this.through = through;
  }

  /**
   * Commits what has been folded when it is called; the promise says how it went. Without news the stored checkpoint moves only if
   * `idle`.
   */
  commit(log: string | null, { idle }: { readonly idle: boolean }): Promise<void> {
    const { through, position, touched } = this;
    if (touched.size === 0 && (!idle || through === position)) {
      this.committed = through;
      return Promise.resolve();
    }
    this.touched = new Map();
    const writes = [...touched].map(([stream, folded]) => {
      this.remembered.set(stream, folded);
      return { id: idOf(stream), ...folded };
    });
    this.position = through;
    const { projection, generation } = this.track;
    return this.store
      .commit(projection, this.token, generation, { expected: position, next: through, log, writes })
      .then((fault) => {
        if (fault !== null) throw new CommitRefused(fault, projection.name);
        this.committed = through;
      });
  }

  /** The streams that go on in these events, as remembered or else as the log has them. */
  private async known(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, Folded>> {
    const known = new Map<string, Folded>();
    const begun = new Set<string>();
    const unknown = new Set<string>();
    for (const { stream, revision } of events) {
      const folded = this.touched.get(stream) ?? this.remembered.get(stream);
      if (folded !== undefined) known.set(stream, folded);
      else if (revision === 0) begun.add(stream);
      else if (!begun.has(stream)) unknown.add(stream);
    }
    await together([...unknown], READ_TOGETHER, async (stream) => {
      let folded: Folded | undefined;
      for (const event of await this.events.readStream(stream)) folded = this.evolve(folded, event);
      if (folded === undefined) return;
      known.set(stream, folded);
      this.touched.set(stream, folded);
    });
    return known;
  }

  private bytesOf(folded: Folded): number {
    if (this.remembering++ % RECKONED_EVERY === 0) this.reckoned = cachedBytes(folded);
    return this.reckoned;
  }

  private evolve(before: Folded | undefined, event: RecordedEvent): Folded {
    const { projection } = this.track;
    try {
      const state = projection.evolve(before?.state ?? null, event);
      return { revision: event.revision, state, occurredAt: event.metadata.occurredAt };
    } catch (cause) {
      throw new ProjectionFailed(projection.name, event, cause);
    }
  }
}
