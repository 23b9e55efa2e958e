import { LRUCache } from 'lru-cache';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { cachedBytes } from '../../kernel/json.js';
import { ownerOf, unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { EventStore } from '../../ports/event-store.js';

/** So that a long stream is folded piece by piece. */
const PAGE = 1_000;
const REMEMBERED_BYTES = 16 * 2 ** 20;

/** A stream as a state of any kind. `evolve` may read the metadata of the event. */
export interface Fold<State, Event extends DomainEvent> {
  /** First part of the stream name. */
  readonly category: string;
  readonly initial: State;
  evolve(state: State, event: Event): State;
}

interface Seen {
  readonly by: unknown;
  readonly loaded: LoadedAggregate<unknown>;
}

/**
 * What this process last saw of long-lived streams and of others that are looked at all the time, so that loading one reads
 * only what is newer. Nothing depends on its being recent: every load asks the store for what came after, and every append
 * names the exact revision it builds on.
 */
export class AggregateCache {
  private readonly seen: LRUCache<string, Seen>;

  constructor(
    private readonly store: EventStore,
    rememberedBytes = REMEMBERED_BYTES,
  ) {
    this.seen = new LRUCache({ maxSize: rememberedBytes, sizeCalculation: ({ loaded }) => cachedBytes(loaded) });
  }

  async load<State, Event extends DomainEvent>(
    fold: Pick<Fold<State, Event>, 'initial' | 'evolve'>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const seen = this.seen.get(stream);
    const known = seen?.by === fold ? seen.loaded : undefined;
    let loaded = (known ?? unstored(fold.initial)) as LoadedAggregate<State>;
    for (;;) {
      const page = await this.store.readStream(stream, { from: (loaded.revision ?? -1) + 1, limit: PAGE });
      const last = page.at(-1);
      if (last !== undefined)
        loaded = {
          state: page.reduce((before, event) => fold.evolve(before, event as RecordedEvent & Event), loaded.state),
          revision: last.revision,
          owner: loaded.owner ?? ownerOf(page[0] ?? last),
          history: [last],
        };
      if (page.length < PAGE) break;
    }
    if (loaded !== known) this.remember(fold, stream, loaded);
    return loaded;
  }

  /** `by`: the fold that it is the state of. */
  remember(by: unknown, stream: string, loaded: LoadedAggregate<unknown>): void {
    if (loaded.revision !== null)
      this.seen.set(stream, { by, loaded: { ...loaded, history: loaded.history.slice(-1) } });
  }
}
