import { type EventStore, isPositionUpTo } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import type { ReadModels } from '../../ports/read-models.js';

/** More than any list has. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * Lists for those who must miss nothing: complete however far the read models are, empty ones included. What those have not passed
 * yet is read from the log, which takes as long as there is much of it.
 */
export class CompleteLists {
  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly readModels: ReadModels,
  ) {}

  /**
   * Ids of the documents in a list, oldest id first. Lists only that a stream's first event decides, as those of accounts, keys, views
   * and shares are. `onProgress` hears how far the log was read, and where it ended at the beginning.
   */
  async idsIn(
    projection: AnyProjection,
    index: string,
    onProgress: (through: string, head: string) => void,
  ): Promise<string[]> {
    const head = await this.events.head();
    const after = await this.passed(projection, head);
    const ids = new Set(after === null ? [] : await this.readModels.idsIn(projection, index, ALL));
    const enough = new AbortController();
    for await (const { events, through, caughtUp } of this.events.subscribe({
      after,
      categories: [projection.category],
      signal: enough.signal,
    })) {
      for (const event of events) {
        if (event.revision > 0) continue;
        if (projection.indexes?.(projection.evolve(null, event)).includes(index))
          ids.add(event.stream.slice(projection.category.length + 1));
      }
      if (through !== null && head !== null) onProgress(through, head);
      if (caughtUp) break;
    }
    enough.abort();
    return [...ids].sort();
  }

  /** Up to where the lists that are read hold everything; null when they are of another log, or none are. */
  private async passed(projection: AnyProjection, head: string | null): Promise<string | null> {
    const { live } = await this.store.generations(projection);
    const checkpoints = live === null ? [] : await this.store.checkpoints(projection, live);
    const [first] = await this.events.readAll(null, 1);
    const ours = checkpoints.every(
      ({ position, log }) => position !== null && isPositionUpTo(head, position) && (log === null || log === first?.id),
    );
    const [least] = checkpoints.map(({ position }) => position).sort();
    return ours ? (least ?? null) : null;
  }
}
