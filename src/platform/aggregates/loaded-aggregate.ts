import type { RecordedEvent } from '../../kernel/domain-event.js';

/** An aggregate as it is now. `revision` is null when nothing was ever stored. */
export interface LoadedAggregate<State> {
  readonly state: State;
  readonly revision: number | null;
  /** All of its events; of an endless stream at least the newest. */
  readonly history: readonly RecordedEvent[];
}
