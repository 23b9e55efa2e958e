// Unit tests of an aggregate have three steps: given events, when a command, then events or a domain error.
import { expect } from '@jest/globals';
import type { ErrorCode } from '../../src/kernel/error-codes.js';
import { fold, type Decider } from '../../src/kernel/decider.js';
import type { DomainEvent } from '../../src/kernel/domain-event.js';
import { DomainError, type DomainErrorDetail } from '../../src/kernel/domain-error.js';

export interface Given<State, Command, Event extends DomainEvent> {
  readonly state: State;
  /** Adds events to the history. */
  and(...events: Event[]): Given<State, Command, Event>;
  when(command: Command): Decision<State, Command, Event>;
}

export interface Decision<State, Command, Event extends DomainEvent> {
  /** Expects exactly these events. No events means that the command changes nothing. Returns the history with these events added. */
  then(...events: Event[]): Given<State, Command, Event>;
  /** Accepts every decision. Fails if the command was refused. */
  readonly decided: Given<State, Command, Event>;
  readonly events: readonly Event[];
  /** Expects a refusal with exactly this code and detail. */
  thenRefused(condition: ErrorCode, detail?: DomainErrorDetail): void;
}

export function given<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  ...history: Event[]
): Given<State, Command, Event> {
  const state = fold<State, Event>(decider, history);
  return {
    state,
    and: (...events) => given(decider, ...history, ...events),
    when: (command) => {
      const decide = (): readonly Event[] => decider.decide(command, state);
      const next = (): Given<State, Command, Event> => given(decider, ...history, ...decide());
      return {
        then: (...events) => {
          expect(decide()).toEqual(events);
          return next();
        },
        get decided() {
          return next();
        },
        get events() {
          return decide();
        },
        thenRefused: (condition, detail = {}) => {
          const refusal = refusalOf(decide);
          expect({ condition: refusal.code, detail: refusal.detail }).toEqual({ condition, detail });
        },
      };
    },
  };
}

/** Returns the domain error that `act` throws. Fails on every other outcome. */
export function refusalOf(act: () => unknown): DomainError {
  let result: unknown;
  try {
    result = act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error(`Nothing was refused: ${JSON.stringify(result)}`);
}
