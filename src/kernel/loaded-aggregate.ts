import type { Owner } from './context.js';
import type { RecordedEvent } from './domain-event.js';

/** An aggregate in its present state. */
export interface LoadedAggregate<State> {
  readonly state: State;
  /** The revision of the newest event; null if the stream has no event. */
  readonly revision: number | null;
  /** The owner that the first event names; null if the stream has no event. */
  readonly owner: Owner | null;
  /** All events of the aggregate. For a long stream, at least the newest events. */
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
