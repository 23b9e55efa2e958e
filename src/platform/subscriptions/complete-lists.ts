import { setTimeout as pause } from 'node:timers/promises';
import { idOf } from '../../kernel/domain-event.js';
import { type EventBatch, type EventStore, isPositionUpTo } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import type { Cursor, Page, ReadModels } from '../../ports/read-models.js';

/** Entries that are read at a time. */
const PAGE = 500;
/** What follows the log writes a moment after it has news; where it takes much longer, it is away or begins anew. */
const LONGEST_WAIT_MS = 1_000;
const LOOK_AGAIN_MS = 10;

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
    list: string,
    onProgress: (through: string, head: string) => void,
  ): Promise<string[]> {
    const head = await this.events.head();
    const after = await this.passed(projection, head);
    const ids = new Set(after === null ? [] : await this.listed(projection, list));
    for await (const { events, through } of this.upToEnd(projection, after)) {
      for (const event of events) {
        if (event.revision > 0) continue;
        const entries = projection.entries?.(projection.evolve(null, event)) ?? [];
        if (entries.some((entry) => entry.list === list)) ids.add(idOf(event.stream));
      }
      if (through !== null && head !== null) onProgress(through, head);
    }
    return [...ids].sort();
  }

  /**
   * Returns once the lists hold what was in the log when this was called, which is a tenth of a second later at most where something is
   * written to them right now. Lists that are being built, or that nobody writes, are as far as they are after a second.
   */
  async caughtUp(projection: AnyProjection): Promise<void> {
    const head = await this.events.head();
    if (head === null) return;
    const until = performance.now() + LONGEST_WAIT_MS;
    while ((await this.isBehind(projection, head)) && performance.now() < until) await pause(LOOK_AGAIN_MS);
  }

  /** A projection that is written seldom has a checkpoint far from the head, and no event after it. */
  private async isBehind(projection: AnyProjection, head: string): Promise<boolean> {
    const after = await this.passed(projection, head);
    if (after === null) return true;
    if (after === head) return false;
    for await (const { events, through } of this.upToEnd(projection, after)) {
      if (events.some(({ position }) => isPositionUpTo(head, position))) return true;
      if (through !== null && through >= head) break;
    }
    return false;
  }

  /** What the log holds for the projection after that place. */
  private async *upToEnd({ category }: AnyProjection, after: string | null): AsyncGenerator<EventBatch> {
    const enough = new AbortController();
    try {
      for await (const batch of this.events.subscribe({ after, categories: [category], signal: enough.signal })) {
        yield batch;
        if (batch.caughtUp) return;
      }
    } finally {
      enough.abort();
    }
  }

  private async listed(projection: AnyProjection, list: string): Promise<string[]> {
    const ids: string[] = [];
    for (let after: Cursor | null = null; ;) {
      const page: Page<object> = await this.readModels.list(projection, list, { after, limit: PAGE });
      ids.push(...page.items.map(({ id }) => id));
      if (page.next === null) return ids;
      after = page.next;
    }
  }

  /** Up to where the lists that are read hold everything; null when they are of another log, or none are. */
  private async passed(projection: AnyProjection, head: string | null): Promise<string | null> {
    const { live } = await this.store.generations(projection);
    const checkpoint = live === null ? null : await this.store.checkpoint(projection, live);
    if (checkpoint === null || checkpoint.position === null) return null;
    const [first] = await this.events.readAll(null, 1);
    const ours = isPositionUpTo(head, checkpoint.position) && (checkpoint.log === null || checkpoint.log === first?.id);
    return ours ? checkpoint.position : null;
  }
}
