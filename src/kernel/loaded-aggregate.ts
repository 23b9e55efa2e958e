import type { Owner } from './context.js';
import type { RecordedEvent } from './domain-event.js';

/** An aggregate as it is now. */
export interface LoadedAggregate<State> {
  readonly state: State;
  /** Of the newest event; null when nothing was ever stored. */
  readonly revision: number | null;
  /** Whom the first event of the stream says that it belongs to; null when nothing was ever stored. */
  readonly owner: Owner | null;
  /** All of its events; of a long stream the newest at least. */
  readonly history: readonly RecordedEvent[];
}

/** An aggregate before its first event. */
export function unstored<State>(initial: State): LoadedAggregate<State> {
  return { state: initial, revision: null, owner: null, history: [] };
}

export function ownerOf(first: RecordedEvent): Owner {
  const { accountId, environment } = first.metadata;
  return { accountId, environment };
}
