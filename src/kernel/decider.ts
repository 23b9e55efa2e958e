import type { DomainEvent } from './domain-event.js';

/**
 * An aggregate as three pure functions. `decide` throws only DomainError. `evolve` never throws and accepts every event that was ever stored. Both
 * get time, random values and outside facts only from the command.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  /** The first part of the stream name `<category>-<id>`: letters, digits and underscores. */
  readonly category: string;
  readonly initial: State;
  /** The state follows from the newest event of the stream, so only that one is read (see GroupedStream). */
  readonly newestOnly?: true;
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

/** The default case of an `evolve`. The call does not compile while a known event has no case. An event of a later version changes nothing. */
export function assertNever<State>(_event: never, state: State): State {
  return state;
}
