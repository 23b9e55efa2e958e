import { attemptsLeft, lockAt, type AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import {
  request,
  requested,
  type AskCommand,
  type NewAttempt,
  type Operation,
  type Requested,
} from '../../../challenges/domain/challenge.js';
import { factsOf, type Count, type Ending, type Fact, type RecordVerdict } from '../../../challenges/domain/verdict.js';
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  repliesUntil,
  type Attempt,
  type Challenge,
  type EndCause,
  type PartyEvent,
  type PartyKind,
  type PartyState,
  type Reference,
  type Registration,
} from './party.js';

export type PartyCommand =
  /** `after` is the newest session that the caller has seen. If the party has a newer session, the decider returns no event. */
  | (Registration & { readonly kind: 'register'; readonly of: PartyKind; readonly after: string | null })
  | { readonly kind: 'store-token'; readonly of: PartyKind; readonly subjectId: string; readonly storedAt: string }
  | { readonly kind: 'record-token-erasure'; readonly subjectId: string }
  | (NewAttempt & { readonly kind: 'reauthenticate'; readonly reference: Reference })
  | AskCommand
  | RecordVerdict
  /** The vendor has not executed the call, and will never execute it. */
  | { readonly kind: 'record-not-executed'; readonly attemptId: string }
  /** The result of the call is unknown. The challenge ends when the call is old enough. */
  | { readonly kind: 'give-up'; readonly now: Date; readonly attemptId: string }
  /** The vendor's replies to the calls that `repliesUntil` names were removed from the vault. */
  | { readonly kind: 'record-replies-discarded'; readonly until: Date }
  | { readonly kind: 'unlock'; readonly now: Date }
  | { readonly kind: 'expire'; readonly now: Date };

const REMEMBERED_REGISTRATIONS = 20;
const REMEMBERED_ATTEMPTS = 50;
/** A higher number than any sensible limit allows. */
const REMEMBERED_ANSWERS = 100;

export const party: Decider<PartyState, PartyCommand, PartyEvent> = {
  category: 'party',
  initial: {
    kind: null,
    registrations: [],
    token: null,
    reauthenticatedAt: null,
    reauthenticatedAs: null,
    expiredAt: null,
    lockedUntil: null,
    wrongAt: [],
    challenge: null,
    attempt: null,
    attemptIds: [],
    replies: [],
  },
  decide,
  evolve,
};

function decide(command: PartyCommand, state: PartyState): readonly PartyEvent[] {
  switch (command.kind) {
    case 'register': {
      const { of: kind, after, sessionId, bodyHash, registeredAt } = command;
      const newest = state.registrations.at(-1)?.sessionId ?? null;
      if (newest !== after || state.registrations.some((known) => known.sessionId === sessionId)) return [];
      // An answer may be at the vendor. The verdict on this answer must not be lost, and must not confirm the person who registers now.
      refuseBusy(state);
      return [{ type: 'PartyRegistered', data: { kind, sessionId, bodyHash, registeredAt } }];
    }
    case 'store-token': {
      const { of: kind, subjectId, storedAt } = command;
      // The subject differs from the previous subject only when the previous one was erased.
      const before = state.token !== null && state.token.subjectId !== subjectId ? tokenErased(state.token) : [];
      return [...before, { type: 'VendorTokenStored', data: { kind, subjectId, storedAt } }];
    }
    case 'record-token-erasure':
      return state.token?.subjectId === command.subjectId ? tokenErased(command) : [];
    case 'reauthenticate': {
      if (state.attemptIds.includes(command.attemptId)) return [];
      refuseLocked(state, command.now);
      refuseBusy(state);
      return [{ type: 'ReauthenticationRequested', data: { ...requested(command), ...command.reference } }];
    }
    case 'answer-otp':
    case 'answer-kba':
    case 'resend-otp':
      return state.attemptIds.includes(command.attemptId) ? [] : ask(command, state);
    case 'unlock':
      return lockAt(state, command.now) === null && state.wrongAt.length === 0
        ? []
        : [{ type: 'PartyUnlocked', data: { unlockedAt: command.now.toISOString() } }];
    case 'record-verdict': {
      const attempt = pendingOf(state, command.attemptId);
      return attempt === null ? [] : record(command, attempt, state);
    }
    case 'record-not-executed': {
      const { attemptId } = command;
      return pendingOf(state, attemptId)
        ? [{ type: 'ReauthenticationAbandoned', data: { attemptId, cause: 'NOT_EXECUTED' } }]
        : [];
    }
    case 'give-up': {
      const { attemptId, now } = command;
      const attempt = pendingOf(state, attemptId);
      if (attempt === null || now < new Date(attempt.giveUpAfter)) return [];
      return [{ type: 'ReauthenticationEnded', data: { attemptId, cause: 'NO_VERDICT' } }];
    }
    case 'record-replies-discarded': {
      const { until } = command;
      if (repliesUntil(state, until).length === 0) return [];
      return [{ type: 'PartyRepliesDiscarded', data: { until: until.toISOString() } }];
    }
    case 'expire':
      return [{ type: 'AuthenticationExpired', data: { expiredAt: command.now.toISOString() } }];
    default:
      return command satisfies never;
  }
}

function tokenErased({ subjectId }: { readonly subjectId: string }): readonly PartyEvent[] {
  return [{ type: 'VendorTokenErased', data: { subjectId } }];
}

function ask(command: AskCommand, state: PartyState): readonly PartyEvent[] {
  const data = request(command, challengeOf(state, command.now), state.attempt && BUSY);
  if (command.kind === 'resend-otp') return [{ type: 'ReauthenticationCodeRequested', data }];
  const method = command.kind === 'answer-otp' ? 'OTP' : 'KBA';
  return [{ type: 'ReauthenticationAnswerReceived', data: { ...data, method } }];
}

function record(command: RecordVerdict, attempt: Attempt, state: PartyState): readonly PartyEvent[] {
  const count = countOf(state, command.now, command.policy);
  return factsOf(command, operationOf(attempt), count).map((fact) => eventOf(fact, attempt, command.now.toISOString()));
}

/** Null for the call that requests a challenge. */
export function operationOf({ operation }: Attempt): Operation | null {
  return operation === 'reauthentication' ? null : operation;
}

/** Attempts that were used up in a challenge stay used up in the next challenge. */
export function countOf({ wrongAt }: PartyState, now: Date, limit: AnswerLimit): Count {
  return { attemptsLeft: attemptsLeft(wrongAt, now, limit), vendorMayAdd: false };
}

function eventOf(fact: Fact, { attemptId, sessionId, subjectId, vendor, personIds }: Attempt, at: string): PartyEvent {
  switch (fact.kind) {
    case 'opened': {
      const { otp, questions } = fact;
      const reference = { sessionId, subjectId, vendor, ...(personIds && { personIds }) };
      const smsSentAt = otp ? at : null;
      return { type: 'ReauthenticationChallenged', data: { attemptId, otp, questions, smsSentAt, ...reference } };
    }
    case 'confirmed':
      return { type: 'PartyReauthenticated', data: { attemptId, authenticatedAt: at } };
    case 'code-sent':
      return { type: 'ReauthenticationCodeSent', data: { attemptId, smsSentAt: at } };
    case 'rejected':
      return {
        type: 'ReauthenticationRejected',
        data: { attemptId, rejectedAt: at, attemptsRemaining: fact.attemptsRemaining },
      };
    case 'locked':
      return { type: 'PartyLocked', data: { attemptId, lockedUntil: fact.lockedUntil } };
    case 'over':
      return { type: 'ReauthenticationEnded', data: { attemptId, cause: END_CAUSES[fact.ending.kind] } };
    case 'abandoned':
      return { type: 'ReauthenticationAbandoned', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } };
    default:
      return fact satisfies never;
  }
}

const END_CAUSES: Readonly<Record<Ending['kind'], EndCause>> = {
  'session-over': 'VENDOR_SESSION_OVER',
  'person-erased': 'PERSON_ERASED',
  refused: 'VENDOR_REFUSED',
  'refused-otherwise': 'VENDOR_REFUSED',
  unintelligible: 'VENDOR_UNINTELLIGIBLE',
};

/** A party can have only one call at the vendor at a time. */
export const BUSY = { retryAfterSeconds: 1 };

function refuseLocked(state: PartyState, now: Date): void {
  const blockedUntil = lockAt(state, now);
  if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
}

function refuseBusy({ attempt }: PartyState): void {
  if (attempt) throw new DomainError('screening.attempt_in_progress', BUSY);
}

/** The challenge that can be answered. When a new challenge is requested, the old challenge has ended. */
function challengeOf(state: PartyState, now: Date): Challenge {
  refuseLocked(state, now);
  if (state.attempt?.operation === 'reauthentication') refuseBusy(state);
  if (state.challenge === null) throw new DomainError('party.no_challenge');
  return state.challenge;
}

/** The call at the vendor, if the call has this attempt id. */
export function pendingOf({ attempt }: PartyState, attemptId: string): Attempt | null {
  return attempt?.attemptId === attemptId ? attempt : null;
}

function evolve(state: PartyState, event: PartyEvent): PartyState {
  switch (event.type) {
    case 'PartyRegistered': {
      const { kind, ...registration } = event.data;
      return {
        ...state,
        kind,
        registrations: [...state.registrations, registration].slice(-REMEMBERED_REGISTRATIONS),
        reauthenticatedAt: null,
        reauthenticatedAs: null,
        challenge: null,
      };
    }
    case 'VendorTokenStored': {
      const { kind, subjectId } = event.data;
      return { ...state, kind, token: { subjectId, after: state.registrations.at(-1)?.sessionId ?? null } };
    }
    case 'VendorTokenErased':
      return { ...state, token: null };
    case 'ReauthenticationRequested':
      return calling({ ...state, challenge: null }, { ...event.data, operation: 'reauthentication' });
    case 'ReauthenticationChallenged':
      return { ...state, attempt: null, challenge: { ...event.data, resends: 0 } };
    case 'ReauthenticationAnswerReceived': {
      const { method, ...request } = event.data;
      return answering(state, request, method === 'OTP' ? 'otp' : 'kba');
    }
    case 'ReauthenticationCodeRequested':
      return answering(state, event.data, 'otp-resend');
    case 'ReauthenticationCodeSent': {
      const { challenge } = state;
      const { smsSentAt } = event.data;
      return {
        ...state,
        attempt: null,
        challenge: challenge && { ...challenge, smsSentAt, resends: challenge.resends + 1 },
      };
    }
    case 'ReauthenticationRejected': {
      const { rejectedAt, attemptsRemaining } = event.data;
      const challenge = state.challenge && { ...state.challenge, attemptsRemaining };
      return { ...state, attempt: null, challenge, wrongAt: [...state.wrongAt, rejectedAt].slice(-REMEMBERED_ANSWERS) };
    }
    case 'PartyReauthenticated':
      return {
        ...state,
        attempt: null,
        challenge: null,
        wrongAt: [],
        reauthenticatedAt: event.data.authenticatedAt,
        reauthenticatedAs: state.attempt,
      };
    case 'PartyLocked':
      // The wrong answers that led to a lock do not count again after the lock.
      return { ...state, attempt: null, challenge: null, wrongAt: [], lockedUntil: event.data.lockedUntil };
    case 'PartyUnlocked':
      return { ...state, wrongAt: [], lockedUntil: null };
    case 'ReauthenticationAbandoned':
      return { ...state, attempt: null };
    case 'ReauthenticationEnded':
      return { ...state, attempt: null, challenge: null };
    case 'PartyRepliesDiscarded': {
      const gone = repliesUntil(state, new Date(event.data.until));
      return { ...state, replies: state.replies.filter((reply) => !gone.includes(reply)) };
    }
    case 'AuthenticationExpired':
      return { ...state, reauthenticatedAt: null, reauthenticatedAs: null, expiredAt: event.data.expiredAt };
    default:
      return assertNever(event, state);
  }
}

function answering(state: PartyState, request: Requested, operation: Attempt['operation']): PartyState {
  if (state.challenge === null) return state;
  const { sessionId, subjectId, vendor, personIds } = state.challenge;
  return calling(state, { ...request, sessionId, subjectId, vendor, ...(personIds && { personIds }), operation });
}

function calling(state: PartyState, attempt: Attempt): PartyState {
  const { attemptId, subjectId, settleAfter } = attempt;
  return {
    ...state,
    attempt,
    attemptIds: [...state.attemptIds, attemptId].slice(-REMEMBERED_ATTEMPTS),
    replies: [...state.replies, { attemptId, subjectId, settleAfter }],
  };
}
