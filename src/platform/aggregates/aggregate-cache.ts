import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import type { LoadedAggregate } from './loaded-aggregate.js';

/** So that a long stream is folded piece by piece. */
const PAGE = 1_000;
const REMEMBERED_BYTES = 16 * 2 ** 20;
const MAX_WAIT_MS = 15_000;

/**
 * What this process last saw of endless streams and of others that are looked at all the time, so that loading one reads only
 * what is newer. Nothing depends on its being recent: every load asks the store for what came after, and every append names the
 * exact revision it builds on.
 */
export class AggregateCache {
  private readonly seen: BoundedMemory<LoadedAggregate<unknown>>;
  /** Settles when the last in line for a stream is done. */
  private readonly lines = new Map<string, Promise<void>>();

  constructor(
    private readonly store: EventStore,
    rememberedBytes = REMEMBERED_BYTES,
  ) {
    this.seen = new BoundedMemory(rememberedBytes);
  }

  async load<State, Event extends DomainEvent>(
    decider: Pick<Decider<State, never, Event>, 'initial' | 'evolve'>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const known = this.seen.get(stream);
    let loaded = (known ?? { state: decider.initial, revision: null, history: [] }) as LoadedAggregate<State>;
    for (;;) {
      const page = await this.store.readStream(stream, { from: (loaded.revision ?? -1) + 1, limit: PAGE });
      const state = page.reduce(
        (before, event) => decider.evolve(before, event as RecordedEvent & Event),
        loaded.state,
      );
      const last = page.at(-1);
      if (last !== undefined) loaded = { state, revision: last.revision, history: [last] };
      if (page.length < PAGE) break;
    }
    if (loaded !== known) this.remember(stream, loaded);
    return loaded;
  }

  remember(stream: string, { state, revision, history }: LoadedAggregate<unknown>): void {
    if (revision !== null) this.seen.set(stream, { state, revision, history: history.slice(-1) });
  }

  /**
   * Lets commands on one stream queue up in this process instead of conflicting until they give up. A courtesy and
   * no lock: whoever has waited for long goes ahead, and the expected revision keeps it right.
   */
  async oneAtATime<Result>(stream: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.lines.get(stream);
    let leave = (): void => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    this.lines.set(stream, mine);
    try {
      if (before) await atMost(MAX_WAIT_MS, before);
      return await work();
    } finally {
      leave();
      if (this.lines.get(stream) === mine) this.lines.delete(stream);
    }
  }
}

async function atMost(ms: number, turn: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([turn, late]);
  clearTimeout(timer);
}
