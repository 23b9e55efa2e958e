import { setTimeout as pause } from 'node:timers/promises';
import { categoryOf } from '../../kernel/domain-event.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { type EventStore, isPositionUpTo } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore } from '../../ports/projection-store.js';
import type { ReadModels } from '../../ports/read-models.js';

/** The number of events in one read. */
const PAGE = 500;
/** The projector writes a moment after an event. If this takes much longer, no projector runs, or the projector is building. */
const LONGEST_WAIT_MS = 1_000;
const LOOK_AGAIN_MS = 25;

/** Lists that include every event that was written before the request. Readers of these lists wait for the projector. */
export class CompleteLists {
  constructor(
    private readonly events: EventStore,
    private readonly store: ProjectionStore,
    private readonly readModels: Pick<ReadModels, 'idsIn'>,
  ) {}

  /** The ids of all documents in a list, in order. Throws Unavailable if the projector does not catch up in time. */
  async idsIn(projection: AnyProjection, list: string, withinMs = LONGEST_WAIT_MS): Promise<string[]> {
    if ((await this.events.head()) === null) return [];
    if (!(await this.caughtUp(projection, withinMs)))
      throw new Unavailable(`The lists of ${projection.name} are behind the log`);
    return (await this.readModels.idsIn(projection, list)).sort();
  }

  /**
   * Resolves with true if the lists include everything that was in the log at the call. While a process writes the lists, this takes some tenths of
   * a second. Resolves with false if `withinMs` has passed. The lists are then still being built, or no process writes them.
   */
  async caughtUp(projection: AnyProjection, withinMs = LONGEST_WAIT_MS): Promise<boolean> {
    const head = await this.events.head();
    const until = performance.now() + withinMs;
    while (head !== null && (await this.isBehind(projection, head, until))) {
      if (performance.now() >= until) return false;
      await pause(LOOK_AGAIN_MS);
    }
    return true;
  }

  /** A projection with rare events may be far from the head and still be complete. This function looks for a missing event. */
  private async isBehind(projection: AnyProjection, head: string, until: number): Promise<boolean> {
    let place = await this.passed(projection);
    if (place === null) return true;
    while (place < head) {
      const page = await this.events.readAll(place, PAGE);
      const isWaiting = page.some(
        ({ stream, position }) => position <= head && categoryOf(stream) === projection.category,
      );
      if (isWaiting || performance.now() >= until) return true;
      place = page.at(-1)?.position ?? head;
    }
    return false;
  }

  /** The position up to which the readable lists are complete; null if they belong to another log or do not exist. */
  private async passed(projection: AnyProjection): Promise<string | null> {
    const { live } = await this.store.generations(projection);
    const checkpoint = live === null ? null : await this.store.checkpoint(projection, live);
    if (checkpoint === null || checkpoint.position === null) return null;
    // Read after the checkpoint, because the lists may have passed the earlier end of the log.
    const [head, [first]] = await Promise.all([this.events.head(), this.events.readAll(null, 1)]);
    const ours = isPositionUpTo(head, checkpoint.position) && (checkpoint.log === null || checkpoint.log === first?.id);
    return ours ? checkpoint.position : null;
  }
}
