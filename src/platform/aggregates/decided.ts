// Decides a command on an aggregate, and tries to store the result.
import type { AnyDecider, CommandTo } from '../../kernel/command-to.js';
import type { ActionContext } from '../../kernel/context.js';
import { DomainError } from '../../kernel/domain-error.js';
import type { DomainEvent, RecordedEvent } from '../../kernel/domain-event.js';
import type { LoadedAggregate } from '../../kernel/loaded-aggregate.js';
import type { StreamAppend } from '../../ports/event-store.js';
import { asNewEvent, recordedEvents, type Moment } from './recorded-events.js';

/** The aggregate after a command. The caller can pass it to the next `execute` as `known` to save a read. */
export interface CommandResult<State, Event extends DomainEvent> extends LoadedAggregate<State> {
  /** The events of this command; empty if it changed nothing. The position of these events is empty, because it is not known yet. */
  readonly events: readonly RecordedEvent<Event>[];
}

export type AnyResult = CommandResult<unknown, DomainEvent>;

export interface AggregateObserver {
  appendConflict(category: string): void;
}

/**
 * The number of tries of a command. The pauses between the tries take at most about four seconds in total. A process that appends without a pause
 * wins most conflicts with a process that pauses. The pauses must therefore last longer than a burst of commands in another process
 * (docs/adr/0023-looks-of-a-session-are-one-stream.md).
 */
const MAX_TRIES = 10;
const LONGEST_PAUSE_MS = 1_000;

export function streamOf({ category }: { readonly category: string }, id: string): string {
  return `${category}-${id}`;
}

/** Throws the decider's errors. */
export function decided(
  { decider, id, command }: CommandTo<AnyDecider>,
  before: LoadedAggregate<unknown>,
  context: ActionContext,
  moment: Moment,
): AnyResult {
  const decision = decider.decide(command, before.state);
  if (decision.length === 0) return { ...before, events: [] };
  const events = recordedEvents(streamOf(decider, id), before, decision, { ...context, moment });
  return {
    state: decision.reduce((state, event) => decider.evolve(state, event), before.state),
    revision: events.at(-1)?.revision ?? null,
    owner: before.owner ?? { accountId: context.accountId, environment: context.environment },
    history: [...before.history, ...events],
    events,
  };
}

export function appendOf(stream: string, { revision }: LoadedAggregate<unknown>, { events }: AnyResult): StreamAppend {
  return { stream, expected: revision ?? 'no-stream', events: events.map(asNewEvent) };
}

/** Marks the effect in the context of the command's request. */
export function noteEffect({ events }: AnyResult, { effect }: ActionContext): void {
  if (effect && events.length > 0) effect.done = true;
}

/** Tries until there is a result. */
export async function untilStored<Result>(
  categories: readonly string[],
  attempt: (number: number) => Promise<Result | null>,
): Promise<Result> {
  for (let number = 1; number <= MAX_TRIES; number++) {
    // The pause is random, so that processes that conflicted do not conflict again at once.
    const pauseMs = Math.random() * Math.min(LONGEST_PAUSE_MS, 3 ** (number - 1));
    if (number > 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const result = await attempt(number);
    if (result !== null) return result;
  }
  throw new DomainError('service.unavailable', { cause: new Error(`${categories.join(', ')} stays contended`) });
}
