import type { DomainEvent } from './domain-event.js';

/**
 * An aggregate as three pure functions. `decide` may throw a DomainError and nothing else; `evolve` never throws and reads
 * any event ever stored. Neither knows the time, randomness or the outside: those arrive in the command.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  /** First part of the stream name `<category>-<id>`; letters, digits and underscores. */
  readonly category: string;
  readonly initial: State;
  /** It only records: it stays as it was at first whatever is stored. Of its stream the newest event is read and no other (see GroupedStream). */
  readonly stateless?: true;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
}

export function fold<State, Event extends DomainEvent>(
  decider: Pick<Decider<State, never, Event>, 'initial' | 'evolve'>,
  events: Iterable<{ readonly type: Event['type']; readonly data: Event['data'] }>,
): State {
  let state = decider.initial;
  for (const event of events) state = decider.evolve(state, event as Event);
  return state;
}

/**
 * The default case of an `evolve`: it does not compile while a known event has no case of its own. At run time an event of a
 * later version of the service changes nothing, so that it does not stop the read of the others.
 */
export function assertNever<State>(_event: never, state: State): State {
  return state;
}
