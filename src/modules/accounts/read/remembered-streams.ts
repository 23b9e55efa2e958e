import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../kernel/clock.js';
import { type Decider, fold } from '../../../kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../../kernel/domain-event.js';
import { cachedBytes } from '../../../kernel/json.js';
import type { EventStore } from '../../../ports/event-store.js';

const PAGE = 1_000;
const REMEMBERED_BYTES = 8 * 2 ** 20;

interface Seen<State> {
  readonly state: State;
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly asOf: number;
}

/** Remembers the states of streams, which it reads from the log. For a stream that this process has read before, it reads only later events. */
export class RememberedStreams<State, Event extends DomainEvent> {
  private readonly seen = new LRUCache<string, Seen<State>>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: cachedBytes,
  });

  constructor(
    private readonly store: EventStore,
    private readonly decider: Pick<Decider<State, never, Event>, 'category' | 'initial' | 'evolve'>,
    private readonly clock: Clock,
    private readonly forMs: number,
  ) {}

  /** Returns a state that is at most `forMs` old. A missing stream is not remembered. */
  async recent(id: string, forMs = this.forMs): Promise<State> {
    const seen = this.seen.get(id);
    return seen !== undefined && this.clock.now().getTime() < seen.asOf + forMs ? seen.state : this.now(id);
  }

  /** Returns the remembered state of any age. */
  last(id: string): State {
    return this.seen.get(id)?.state ?? this.decider.initial;
  }

  /** Returns the current state. */
  async now(id: string): Promise<State> {
    // The age counts from before the read, because another event may be stored before the answer arrives.
    const asOf = this.clock.now().getTime();
    const { state, revision } = await foldStream(this.store, this.decider, id, this.seen.get(id));
    if (revision >= 0) this.seen.set(id, { state, revision, asOf });
    return state;
  }
}

/** The state of a stream, from its beginning or from a state at a revision. A long stream is never whole in memory. */
export async function foldStream<State, Event extends DomainEvent>(
  store: Pick<EventStore, 'readStream'>,
  decider: Pick<Decider<State, never, Event>, 'category' | 'initial' | 'evolve'>,
  id: string,
  from?: Pick<Seen<State>, 'state' | 'revision'>,
): Promise<Pick<Seen<State>, 'state' | 'revision'>> {
  let { state, revision } = from ?? { state: decider.initial, revision: -1 };
  for (let page: readonly RecordedEvent[]; ;) {
    page = await store.readStream(`${decider.category}-${id}`, { from: revision + 1, limit: PAGE });
    state = fold({ ...decider, initial: state }, page as Iterable<RecordedEvent & Event>);
    revision = page.at(-1)?.revision ?? revision;
    if (page.length < PAGE) return { state, revision };
  }
}
