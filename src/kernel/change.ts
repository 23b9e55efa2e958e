import type { Decider } from './decider.js';
import type { DomainEvent } from './domain-event.js';
import type { LoadedAggregate } from './loaded-aggregate.js';

/** A change of one aggregate, which may be made together with changes of others. */
export interface Change<State, Event extends DomainEvent> {
  readonly decider: Pick<Decider<State, never, Event>, 'category' | 'initial' | 'longLived' | 'stateless' | 'evolve'>;
  readonly id: string;
  /** Called again on a newer state after a conflict. What it throws refuses this change and those made together with it. */
  decide(state: State): readonly Event[];
  /** The aggregate as the caller has seen it, to spare the first read. */
  readonly known?: LoadedAggregate<State>;
}
