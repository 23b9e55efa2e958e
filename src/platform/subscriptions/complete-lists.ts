import { setTimeout as pause } from 'node:timers/promises';
import { categoryOf, idOf, type RecordedEvent } from '../../kernel/domain-event.js';
import { type EventStore, isPositionUpTo } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import type { Cursor, Page, ReadModels } from '../../ports/read-models.js';

/** Entries, and events, that are read at a time. */
const PAGE = 500;
/** What follows the log writes a moment after it has news; where it takes much longer, it is away or begins anew. */
const LONGEST_WAIT_MS = 1_000;
const LOOK_AGAIN_MS = 25;

/** Part of the log, and how far it reaches. */
interface Part {
  readonly events: readonly RecordedEvent[];
  readonly through: string;
}

/**
 * Lists of ids for those who must miss nothing: complete however far the read models are, empty ones included. What those have not passed
 * yet is read from the log, which takes as long as there is much of it. Others wait a moment for the read models (`caughtUp`).
 */
export class CompleteLists {
  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly readModels: ReadModels,
    private readonly longestWaitMs = LONGEST_WAIT_MS,
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
    const after = await this.passed(projection);
    const ids = new Set(after === null ? [] : await this.listed(projection, list));
    for await (const { events, through } of this.upToEnd(projection, after)) {
      for (const event of events) {
        if (event.revision > 0) continue;
        const entries = projection.entries?.(projection.evolve(null, event)) ?? [];
        if (entries.some((entry) => entry.list === list)) ids.add(idOf(event.stream));
      }
      if (head !== null) onProgress(through, head);
    }
    return [...ids].sort();
  }

  /**
   * Returns once the lists hold what was in the log when this was called, which takes some tenth of a second where something is
   * written to them right now. After a second it returns whatever they hold: they are being built then, or nobody writes them.
   */
  async caughtUp(projection: AnyProjection): Promise<void> {
    const head = await this.events.head();
    if (head === null) return;
    const until = performance.now() + this.longestWaitMs;
    while ((await this.isBehind(projection, head, until)) && performance.now() < until) await pause(LOOK_AGAIN_MS);
  }

  /** A projection that is written seldom has a checkpoint far from the head, and no event after it. Whether there is one is looked for until that time. */
  private async isBehind(projection: AnyProjection, head: string, until: number): Promise<boolean> {
    const after = await this.passed(projection);
    if (after === null) return true;
    if (after >= head) return false;
    for await (const { events, through } of this.pages(projection, after)) {
      if (events.some(({ position }) => position <= head) || performance.now() >= until) return true;
      if (through >= head) break;
    }
    return false;
  }

  /** What the log holds for the projection after that place. Its end is read in pages: a subscription that others share rests between two looks. */
  private async *upToEnd(projection: AnyProjection, after: string | null): AsyncGenerator<Part> {
    const { category } = projection;
    const enough = new AbortController();
    let place = after;
    try {
      for await (const batch of this.events.subscribe({ after, categories: [category], signal: enough.signal })) {
        place = batch.through;
        if (place !== null) yield { events: batch.events, through: place };
        if (batch.caughtUp) break;
      }
    } finally {
      enough.abort();
    }
    yield* this.pages(projection, place);
  }

  private async *pages({ category }: AnyProjection, after: string | null): AsyncGenerator<Part> {
    for (let place = after; ;) {
      const page = await this.events.readAll(place, PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      place = last.position;
      yield { events: page.filter(({ stream }) => categoryOf(stream) === category), through: place };
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
  private async passed(projection: AnyProjection): Promise<string | null> {
    const { live } = await this.store.generations(projection);
    const checkpoint = live === null ? null : await this.store.checkpoint(projection, live);
    if (checkpoint === null || checkpoint.position === null) return null;
    // Read after the checkpoint: the lists may have passed what was the end of the log before.
    const [head, [first]] = await Promise.all([this.events.head(), this.events.readAll(null, 1)]);
    const ours = isPositionUpTo(head, checkpoint.position) && (checkpoint.log === null || checkpoint.log === first?.id);
    return ours ? checkpoint.position : null;
  }
}
