import { LRUCache } from 'lru-cache';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import { cachedBytes } from '../../kernel/json.js';
import { ownerOf, unstored, type LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { EventStore } from '../../ports/event-store.js';

/** The size of the pages in which long streams are folded. */
const PAGE = 1_000;
const REMEMBERED_BYTES = 8 * 2 ** 20;

/** How a stream is folded into a state of any kind. `evolve` may read the metadata of the event. */
export interface Fold<State, Event extends DomainEvent> {
  /** The first part of the stream name. */
  readonly category: string;
  readonly initial: State;
  evolve(state: State, event: Event): State;
}

/**
 * Folds streams and remembers the last state of long ones, so that a load reads only newer events. The remembered state may be old, because every
 * load asks the store for newer events. Every append names the exact revision that it follows.
 */
export class AggregateCache {
  private readonly seen: LRUCache<string, LoadedAggregate<unknown>>;
  /** Gives the folds numbers, because a stream may be folded in several ways. */
  private readonly folds = new Map<object, number>();

  /** Streams with fewer than `long` events are not remembered. The whole history of such a stream is returned. */
  constructor(
    private readonly store: EventStore,
    private readonly long: number,
    rememberedBytes = REMEMBERED_BYTES,
  ) {
    this.seen = new LRUCache({ maxSize: rememberedBytes, sizeCalculation: (loaded) => cachedBytes(loaded) });
  }

  async load<State, Event extends DomainEvent>(
    fold: Pick<Fold<State, Event>, 'initial' | 'evolve'>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const known = this.seen.get(this.keyOf(fold, stream)) as LoadedAggregate<State> | undefined;
    let loaded = known ?? unstored(fold.initial);
    for (;;) {
      const page = await this.store.readStream(stream, { from: (loaded.revision ?? -1) + 1, limit: PAGE });
      const last = page.at(-1);
      if (last !== undefined)
        loaded = {
          state: page.reduce((before, event) => fold.evolve(before, event as RecordedEvent & Event), loaded.state),
          revision: last.revision,
          owner: loaded.owner ?? ownerOf(page[0] ?? last),
          history: last.revision + 1 < this.long ? page : [last],
        };
      if (page.length < PAGE) break;
    }
    if (loaded !== known) this.remember(fold, stream, loaded);
    return loaded;
  }

  /** Remembers the state that `fold` has computed. */
  remember(fold: object, stream: string, loaded: LoadedAggregate<unknown>): void {
    if (loaded.revision !== null && loaded.revision + 1 >= this.long)
      this.seen.set(this.keyOf(fold, stream), { ...loaded, history: loaded.history.slice(-1) });
  }

  private keyOf(fold: object, stream: string): string {
    const number = this.folds.get(fold) ?? this.folds.size;
    this.folds.set(fold, number);
    return `${number} ${stream}`;
  }
}
