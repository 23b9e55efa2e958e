import { BoundedMemory } from '../../kernel/bounded-memory.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { ownerOf, unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { EventStore } from '../../ports/event-store.js';

/** So that a long stream is folded piece by piece. */
const PAGE = 1_000;
const REMEMBERED_BYTES = 16 * 2 ** 20;

/**
 * What this process last saw of long-lived streams and of others that are looked at all the time, so that loading one reads
 * only what is newer. Nothing depends on its being recent: every load asks the store for what came after, and every append
 * names the exact revision it builds on.
 */
export class AggregateCache {
  private readonly seen: BoundedMemory<LoadedAggregate<unknown>>;

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
    let loaded = (known ?? unstored(decider.initial)) as LoadedAggregate<State>;
    for (;;) {
      const page = await this.store.readStream(stream, { from: (loaded.revision ?? -1) + 1, limit: PAGE });
      const [first] = page;
      const last = page.at(-1);
      if (first !== undefined && last !== undefined)
        loaded = {
          state: page.reduce((before, event) => decider.evolve(before, event as RecordedEvent & Event), loaded.state),
          revision: last.revision,
          owner: loaded.owner ?? ownerOf(first),
          history: [last],
        };
      if (page.length < PAGE) break;
    }
    if (loaded !== known) this.remember(stream, loaded);
    return loaded;
  }

  remember(stream: string, loaded: LoadedAggregate<unknown>): void {
    if (loaded.revision !== null) this.seen.set(stream, { ...loaded, history: loaded.history.slice(-1) });
  }
}
