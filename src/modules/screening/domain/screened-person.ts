// A person has sessions, wrong answers in all sessions and re-authentications, and a vault subject for personal data. The answers of a party that
// authenticates again name the party in `sessionId`. A person has one such stream, and further streams that only count answers, each under another
// name. A caller can change some of the names, but not all. A stream id is a keyed hash of the account, the environment and details of the person.
// The hash reveals nothing without the key, and never leaves the service.
import { after, attemptsLeft, lockAt, type AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';

export type PersonEvent =
  /** `salt`: see CaseSaltStored. Present if the person had no salt yet; absent in older events. */
  | DomainEvent<'ScreeningOpened', { readonly sessionId: string; readonly subjectId: string; readonly salt?: string }>
  /**
   * The person has screenings from before the salts. The base64 of 32 random bytes; the tags of the person's cases in the transparency log depend on
   * it. Only the first salt of a person counts.
   */
  | DomainEvent<'CaseSaltStored', { readonly salt: string }>
  /** Answers in this session also count under the name of this stream. */
  | DomainEvent<'ScreeningCounted', { readonly sessionId: string }>
  /** A code or answers are sent to the vendor. The answer uses up one attempt until the verdict, because it may be wrong. Times are ISO 8601 UTC. */
  | DomainEvent<
      'AnswerAdmitted',
      { readonly sessionId: string; readonly attemptId: string; readonly giveUpAfter: string }
    >
  /** The answer was wrong, and counts for the person in each session. The time is ISO 8601 UTC. */
  | DomainEvent<
      'WrongAnswerCounted',
      { readonly sessionId: string; readonly attemptId: string; readonly answeredAt: string }
    >
  /** The answer was right, or the vendor did not judge it. The answer no longer counts. */
  | DomainEvent<'AnswerCleared', { readonly sessionId: string; readonly attemptId: string }>
  /** Too many wrong answers in any sessions lock the person out of all sessions. The time is ISO 8601 UTC. */
  | DomainEvent<'PersonLocked', { readonly sessionId: string; readonly lockedUntil: string }>
  /** An operator has ended the lock. Earlier wrong answers no longer count. The time is ISO 8601 UTC. */
  | DomainEvent<'PersonUnlocked', { readonly sessionId: string; readonly unlockedAt: string }>
  /** Evidence that the person's data key was destroyed. Data under this subject can never be read again. */
  | DomainEvent<'SubjectKeyDestroyed', { readonly subjectId: string }>;

export interface PersonState {
  /** Null until the person's first screening since the salts. */
  readonly salt: string | null;
  /** The newest is last, and the length is limited. */
  readonly sessionIds: readonly string[];
  /** The time at which every lock so far has ended. */
  readonly lockedUntil: string | null;
  /** The session or party whose answer last locked the person. */
  readonly lockedBy: string | null;
  /** Answers that are at the vendor. */
  readonly admitted: readonly { readonly attemptId: string; readonly giveUpAfter: string }[];
  /** Wrong answers since the last lock. The newest is last, and the length is limited. */
  readonly wrong: readonly { readonly attemptId: string; readonly answeredAt: string }[];
  /** Wrong attempts, including those before the last lock, each of which is counted once. The newest is last, and the length is limited. */
  readonly counted: readonly string[];
  readonly erasedSubjects: readonly string[];
}

export type PersonCommand =
  /** `salt`: for a person who has none. */
  | { readonly kind: 'open'; readonly personId: string; readonly sessionId: string; readonly salt: string }
  | { readonly kind: 'store-salt'; readonly salt: string }
  | { readonly kind: 'count-session'; readonly sessionId: string }
  /**
   * Comes before the vendor receives the answer. Returns no event when the answer may not be sent to the vendor. An answer may not be sent when the
   * person is locked (see `lockAt`), or when other answers at the vendor may use up all attempts.
   */
  | {
      readonly kind: 'admit-answer';
      readonly now: Date;
      readonly sessionId: string;
      readonly attemptId: string;
      readonly giveUpAfter: Date;
      readonly limit: AnswerLimit;
    }
  /** `lockedUntil` is the end of a lock that the session or the vendor sets with this answer, or else null. */
  | {
      readonly kind: 'count-wrong';
      readonly now: Date;
      readonly sessionId: string;
      readonly attemptId: string;
      readonly lockedUntil: string | null;
      readonly limit: AnswerLimit;
    }
  | { readonly kind: 'clear-answer'; readonly sessionId: string; readonly attemptId: string }
  | { readonly kind: 'record-lock'; readonly sessionId: string; readonly lockedUntil: string }
  | { readonly kind: 'unlock'; readonly now: Date; readonly sessionId: string }
  | { readonly kind: 'record-erasure'; readonly subjectId: string };

/** The number of sessions that are searched for a completed screening. Locks are remembered separately. */
const REMEMBERED_SESSIONS = 20;
/** A higher number than any sensible limit allows within its time. */
const REMEMBERED_ANSWERS = 100;

export const screenedPerson: Decider<PersonState, PersonCommand, PersonEvent> = {
  category: 'person',
  initial: {
    salt: null,
    sessionIds: [],
    lockedUntil: null,
    lockedBy: null,
    admitted: [],
    wrong: [],
    counted: [],
    erasedSubjects: [],
  },

  decide(command, state) {
    switch (command.kind) {
      case 'open':
        if (state.sessionIds.includes(command.sessionId)) return [];
        return [
          {
            type: 'ScreeningOpened',
            data: {
              sessionId: command.sessionId,
              subjectId: subjectOf(command.personId, state),
              ...(state.salt === null && { salt: command.salt }),
            },
          },
        ];
      case 'store-salt':
        return state.salt === null ? [{ type: 'CaseSaltStored', data: { salt: command.salt } }] : [];
      case 'count-session':
        return state.sessionIds.includes(command.sessionId)
          ? []
          : [{ type: 'ScreeningCounted', data: { sessionId: command.sessionId } }];
      case 'admit-answer': {
        const { now, sessionId, attemptId, giveUpAfter, limit } = command;
        const others = state.admitted.filter((answer) => now < new Date(answer.giveUpAfter));
        if (lockAt(state, now) !== null || state.admitted.some((answer) => answer.attemptId === attemptId)) return [];
        // When no other answer is at the vendor, an answer is always accepted. If the limit was lowered in the meantime and the answer is wrong, it
        // locks the person.
        if (others.length > 0 && others.length >= attemptsLeftTo(state, now, limit)) return [];
        return [{ type: 'AnswerAdmitted', data: { sessionId, attemptId, giveUpAfter: giveUpAfter.toISOString() } }];
      }
      case 'count-wrong': {
        const { now, sessionId, attemptId, limit } = command;
        if (state.counted.includes(attemptId)) return [];
        const lockedUntil =
          command.lockedUntil ?? (attemptsLeftTo(state, now, limit) <= 1 ? after(now, limit.lockSeconds) : null);
        return [
          { type: 'WrongAnswerCounted', data: { sessionId, attemptId, answeredAt: now.toISOString() } },
          ...(lockedUntil === null ? [] : lock(sessionId, lockedUntil, state)),
        ];
      }
      case 'clear-answer': {
        const { sessionId, attemptId } = command;
        return state.admitted.some((answer) => answer.attemptId === attemptId)
          ? [{ type: 'AnswerCleared', data: { sessionId, attemptId } }]
          : [];
      }
      case 'record-lock':
        return state.lockedBy === command.sessionId ? [] : lock(command.sessionId, command.lockedUntil, state);
      case 'unlock': {
        const { now, sessionId } = command;
        const isCounting = lockAt(state, now) !== null || state.wrong.length > 0;
        return isCounting ? [{ type: 'PersonUnlocked', data: { sessionId, unlockedAt: now.toISOString() } }] : [];
      }
      case 'record-erasure':
        return state.erasedSubjects.includes(command.subjectId)
          ? []
          : [{ type: 'SubjectKeyDestroyed', data: { subjectId: command.subjectId } }];
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'CaseSaltStored':
        return { ...state, salt: state.salt ?? event.data.salt };
      case 'ScreeningOpened':
      case 'ScreeningCounted':
        return {
          ...state,
          salt: state.salt ?? ('salt' in event.data ? (event.data.salt ?? null) : null),
          sessionIds: [...state.sessionIds, event.data.sessionId].slice(-REMEMBERED_SESSIONS),
        };
      case 'AnswerAdmitted': {
        const { attemptId, giveUpAfter } = event.data;
        return { ...state, admitted: [...state.admitted, { attemptId, giveUpAfter }].slice(-REMEMBERED_ANSWERS) };
      }
      case 'WrongAnswerCounted': {
        const { attemptId, answeredAt } = event.data;
        return {
          ...without(attemptId, state),
          wrong: [...state.wrong, { attemptId, answeredAt }].slice(-REMEMBERED_ANSWERS),
          counted: [...state.counted, attemptId].slice(-REMEMBERED_ANSWERS),
        };
      }
      case 'AnswerCleared':
        return without(event.data.attemptId, state);
      case 'PersonLocked':
        // The wrong answers that led to a lock do not count again after the lock.
        return { ...state, lockedUntil: event.data.lockedUntil, lockedBy: event.data.sessionId, wrong: [] };
      case 'PersonUnlocked':
        return { ...state, lockedUntil: null, wrong: [] };
      case 'SubjectKeyDestroyed':
        return {
          ...state,
          erasedSubjects: [...state.erasedSubjects, event.data.subjectId],
        };
      default:
        return assertNever(event, state);
    }
  },
};

/** The salt in the events of a person; null before the first salt. */
export function saltOf(events: readonly PersonEvent[]): string | null {
  return events.map(({ data }) => ('salt' in data ? data.salt : undefined)).find((salt) => salt !== undefined) ?? null;
}

/** The sessions in all streams of a person, oldest first. A stream that began later has all sessions since its beginning. */
export function sessionsIn(states: readonly Pick<PersonState, 'sessionIds'>[]): readonly string[] {
  return states.reduce<readonly string[]>(
    (known, { sessionIds }) => [...known.filter((id) => !sessionIds.includes(id)), ...sessionIds],
    [],
  );
}

export function attemptsLeftTo({ wrong }: PersonState, now: Date, limit: AnswerLimit): number {
  return attemptsLeft(
    wrong.map(({ answeredAt }) => answeredAt),
    now,
    limit,
  );
}

function lock(sessionId: string, lockedUntil: string, state: PersonState): readonly PersonEvent[] {
  return state.lockedUntil !== null && state.lockedUntil >= lockedUntil
    ? []
    : [{ type: 'PersonLocked', data: { sessionId, lockedUntil } }];
}

function without(attemptId: string, state: PersonState): PersonState {
  return { ...state, admitted: state.admitted.filter((answer) => answer.attemptId !== attemptId) };
}

/** The vault subject of the person's new data. The subject stays the same until an erasure, and differs afterwards. */
export function subjectOf(personId: string, state: PersonState): string {
  return derivedId('vault-subject', personId, String(state.erasedSubjects.length));
}
