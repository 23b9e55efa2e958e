// Which sessions a person has, and under which subject the vault keeps their data. The stream id is a keyed hash of the
// person within account and environment; it says nothing without the key and never leaves the service (decisions 3.11).
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/fact.js';
import { derivedId } from '../../../kernel/ids.js';

export type PersonEvent =
  | DomainEvent<'ScreeningOpened', { readonly sessionId: string; readonly subjectId: string }>
  /** Too many wrong answers in one session lock the person out of all others (ISO 8601 UTC). */
  | DomainEvent<'PersonLocked', { readonly sessionId: string; readonly lockedUntil: string }>
  /** Evidence that the person's data key is gone: what was kept under the subject can never be read again. */
  | DomainEvent<'SubjectKeyDestroyed', { readonly subjectId: string }>;

export interface PersonState {
  /** Newest last, bounded. */
  readonly sessionIds: readonly string[];
  /** The latest end of a lock there was. */
  readonly lockedUntil: string | null;
  readonly erasedSubjects: readonly string[];
}

export type PersonCommand =
  | { readonly kind: 'open'; readonly personId: string; readonly sessionId: string }
  | { readonly kind: 'record-lock'; readonly sessionId: string; readonly lockedUntil: string }
  | { readonly kind: 'record-erasure'; readonly subjectId: string };

/** Sessions that are looked at for a completed screening. Locks are remembered for themselves. */
const REMEMBERED_SESSIONS = 20;

export const screenedPerson: Decider<PersonState, PersonCommand, PersonEvent> = {
  category: 'person',
  initial: { sessionIds: [], lockedUntil: null, erasedSubjects: [] },

  decide(command, state) {
    switch (command.kind) {
      case 'open':
        if (state.sessionIds.includes(command.sessionId)) return [];
        return [{ type: 'ScreeningOpened', data: { sessionId: command.sessionId, subjectId: subjectOf(command.personId, state) } }];
      case 'record-lock':
        if (state.lockedUntil !== null && state.lockedUntil >= command.lockedUntil) return [];
        return [{ type: 'PersonLocked', data: { sessionId: command.sessionId, lockedUntil: command.lockedUntil } }];
      case 'record-erasure':
        return state.erasedSubjects.includes(command.subjectId) ? [] : [{ type: 'SubjectKeyDestroyed', data: { subjectId: command.subjectId } }];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'ScreeningOpened':
        return {
          ...state,
          sessionIds: [...state.sessionIds, event.data.sessionId].slice(-REMEMBERED_SESSIONS),
        };
      case 'PersonLocked':
        return { ...state, lockedUntil: event.data.lockedUntil };
      case 'SubjectKeyDestroyed':
        return {
          ...state,
          erasedSubjects: [...state.erasedSubjects, event.data.subjectId],
        };
      default:
        return unknownEvent(event, state);
    }
  },
};

/** The vault subject new data of the person belongs to: the same until an erasure, then a fresh one. */
export function subjectOf(personId: string, state: PersonState): string {
  return derivedId('vault-subject', personId, String(state.erasedSubjects.length));
}

function unknownEvent(_event: never, state: PersonState): PersonState {
  return state;
}
