import { LRUCache } from 'lru-cache';
import { idOf, machineTimeOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { cachedBytes } from '../../kernel/json.js';
import { together } from '../../kernel/together.js';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, Checkpoint, CommitFault, ProjectionStore } from '../../ports/projection-store.js';

/** A projection could not read an event of its category. The projection's data is not shown. */
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

/** The projection store refused a commit. The writer must begin again from the stored checkpoint. */
export class CommitRefused extends Error {
  override readonly name = 'CommitRefused';

  constructor(
    readonly fault: CommitFault,
    projection: string,
  ) {
    super(`A commit of ${projection} was refused: ${fault}`);
  }
}

/** One generation of one projection, which is written under one lease. */
export interface Track {
  readonly projection: AnyProjection;
  readonly generation: number;
}

/** A stream in the state after the events folded so far. */
interface Folded {
  readonly revision: number;
  readonly state: unknown;
  readonly occurredAt: string;
}

/** The memory for states. A remembered state saves the read at the next event of its stream. */
const REMEMBERED_BYTES = 8 * 2 ** 20;
/** Every sixteenth state is measured, and the next fifteen count as equal, because measuring costs as much as folding. */
const RECKONED_EVERY = 16;
/** The number of streams that are read from the log at the same time. */
const READ_TOGETHER = 16;

/**
 * Folds the log into one generation of one projection. The writer folds in memory and writes each document once for each commit. A stream that is not
 * in memory is folded from the log, never from stored documents. A writer is used from one claim to the first fault. After a fault, the writer's
 * memory is invalid.
 */
export class GenerationWriter {
  /** The lowest position that is certainly committed. */
  committed: string | null;
  private through: string | null;
  /** The stored checkpoint. */
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

  /** Folds events of the projection's category, in order. Throws ProjectionFailed. After any error, this writer cannot be used. */
  async fold(events: readonly RecordedEvent[], through: string | null): Promise<void> {
    const known = await this.known(events);
    for (const event of events) {
      const before = this.touched.get(event.stream) ?? known.get(event.stream);
      // A stream that was read as a whole is ahead of the coming events.
      if (before !== undefined && event.revision <= before.revision) continue;
      this.touched.set(event.stream, this.evolve(before, event));
    }
    this.pass(through);
  }

  /** Passes a part of the log that has no event of the projection. */
  pass(through: string | null): void {
    if (through !== null && (this.through === null || through > this.through)) this.through = through;
  }

  /** Commits everything that was folded before the call, and returns the result. Without new events, the stored checkpoint moves only if `idle`. */
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

  /** The earlier states of the streams in these events, from memory or from the log. */
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
      return { revision: event.revision, state, occurredAt: machineTimeOf(event.metadata) };
    } catch (cause) {
      throw new ProjectionFailed(projection.name, event, cause);
    }
  }
}
