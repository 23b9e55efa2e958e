import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import {
  lockAt,
  repliesUntil,
  type AbandonCause,
  type Attempt,
  type Challenge,
  type ChallengeShape,
  type EndCause,
  type PartyEvent,
  type PartyKind,
  type PartyState,
  type Reference,
  type Registration,
  type Requested,
} from './party.js';

/** A call about to be made to the vendor. */
export interface NewAttempt {
  readonly now: Date;
  readonly attemptId: string;
  readonly settleAfter: Date;
  readonly giveUpAfter: Date;
}

/** So many wrong answers within so many seconds lock the party for as long. */
export interface LockPolicy {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** The parts of a vendor's verdict that the domain decides by: no token, no texts. */
export type PartyVerdict =
  | { readonly kind: 'confirmed' | 'sent' | 'unavailable' | 'timed-out' }
  | ({ readonly kind: 'challenged' } & ChallengeShape)
  | { readonly kind: 'wrong'; readonly attemptsRemaining: number | null }
  | { readonly kind: 'locked'; readonly unblockAt: string | null }
  | { readonly kind: 'over'; readonly cause: EndCause };

export type PartyCommand =
  /** `after`: the newest session that the caller has seen; another one meanwhile, and nothing is decided. */
  | (Registration & { readonly kind: 'register'; readonly of: PartyKind; readonly after: string | null })
  | { readonly kind: 'store-token'; readonly of: PartyKind; readonly subjectId: string; readonly storedAt: string }
  | { readonly kind: 'record-token-erasure'; readonly subjectId: string }
  | (NewAttempt & { readonly kind: 'reauthenticate'; readonly reference: Reference })
  | (NewAttempt & { readonly kind: 'answer-otp'; readonly code: unknown })
  | (NewAttempt & { readonly kind: 'answer-kba'; readonly positions: unknown })
  | (NewAttempt & { readonly kind: 'resend-otp'; readonly intervalSeconds: number })
  | {
      readonly kind: 'record-verdict';
      readonly now: Date;
      readonly attemptId: string;
      readonly verdict: PartyVerdict;
      readonly policy: LockPolicy;
      /** The end of the lock that holds for the person behind the party after this answer; null without one. */
      readonly lockedUntil: string | null;
    }
  | { readonly kind: 'abandon'; readonly attemptId: string; readonly cause: AbandonCause }
  /** The end of the call is not known; the challenge is over once it is old enough. */
  | { readonly kind: 'give-up'; readonly now: Date; readonly attemptId: string }
  /** What the vendor said in the calls of `repliesUntil` was removed from the vault. */
  | { readonly kind: 'record-replies-discarded'; readonly until: Date }
  | { readonly kind: 'unlock'; readonly now: Date }
  | { readonly kind: 'expire'; readonly now: Date };

/** Codes that may be asked for again in one challenge (docs/contract/platform.md#resending-a-code). */
export const MAX_RESENDS = 5;

const REMEMBERED_REGISTRATIONS = 20;
const REMEMBERED_ATTEMPTS = 50;
/** More than any sensible limit allows. */
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
  longLived: true,
  decide,
  evolve,
};

function decide(command: PartyCommand, state: PartyState): readonly PartyEvent[] {
  switch (command.kind) {
    case 'register': {
      const { of: kind, after, sessionId, bodyHash, registeredAt } = command;
      const newest = state.registrations.at(-1)?.sessionId ?? null;
      if (newest !== after || state.registrations.some((known) => known.sessionId === sessionId)) return [];
      // What is said of an answer that is with the vendor must neither be lost nor confirm whoever is registered now.
      refuseBusy(state);
      return [{ type: 'PartyRegistered', data: { kind, sessionId, bodyHash, registeredAt } }];
    }
    case 'store-token': {
      const { of: kind, subjectId, storedAt } = command;
      // Another subject is taken only where the one before was erased.
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
    case 'answer-otp': {
      if (state.attemptIds.includes(command.attemptId)) return [];
      const { otp } = challengeOf(state, command.now);
      if (!otp) throw new DomainError('screening.otp_unusable', { rule: 'Codes are not offered.' });
      if (typeof command.code !== 'string' || !/^[0-9]{4,8}$/.test(command.code))
        throw fieldError('screening.otp_unusable', 'otp.code', 'must have four to eight digits');
      refuseBusy(state);
      return [{ type: 'ReauthenticationAnswerReceived', data: { ...requested(command), method: 'OTP' } }];
    }
    case 'answer-kba': {
      if (state.attemptIds.includes(command.attemptId)) return [];
      const { questions } = challengeOf(state, command.now);
      if (questions.length === 0)
        throw new DomainError('screening.kba_unusable', { rule: 'Questions are not offered.' });
      if (!arePositionsIn(questions, command.positions))
        throw fieldError(
          'screening.kba_unusable',
          'kba.answers',
          'must have the position of one answer to each question',
        );
      refuseBusy(state);
      return [{ type: 'ReauthenticationAnswerReceived', data: { ...requested(command), method: 'KBA' } }];
    }
    case 'resend-otp':
      return state.attemptIds.includes(command.attemptId) ? [] : resend(command, state);
    case 'unlock':
      return lockAt(state, command.now) === null && state.wrongAt.length === 0
        ? []
        : [{ type: 'PartyUnlocked', data: { unlockedAt: command.now.toISOString() } }];
    case 'record-verdict': {
      const attempt = pendingOf(state, command.attemptId);
      return attempt === null ? [] : record(command, attempt, state);
    }
    case 'abandon': {
      const { attemptId, cause } = command;
      return pendingOf(state, attemptId) ? [{ type: 'ReauthenticationAbandoned', data: { attemptId, cause } }] : [];
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

function resend(command: Extract<PartyCommand, { kind: 'resend-otp' }>, state: PartyState): readonly PartyEvent[] {
  const { otp, resends, smsSentAt } = challengeOf(state, command.now);
  if (!otp) throw new DomainError('screening.otp_unusable', { rule: 'Codes are not offered.' });
  refuseBusy(state);
  if (resends >= MAX_RESENDS) throw new DomainError('screening.too_many_resends');
  const waitMs = new Date(smsSentAt ?? 0).getTime() + command.intervalSeconds * 1_000 - command.now.getTime();
  if (waitMs > 0)
    throw new DomainError('screening.resend_too_early', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
  return [{ type: 'ReauthenticationCodeRequested', data: requested(command) }];
}

/** What a verdict of the vendor means. A call whose end is not known stays with the vendor until the recovery job has asked. */
function record(
  { now, verdict, policy, lockedUntil: lockOfPerson }: Extract<PartyCommand, { kind: 'record-verdict' }>,
  attempt: Attempt,
  state: PartyState,
): readonly PartyEvent[] {
  const { attemptId, sessionId, subjectId, vendor, personIds } = attempt;
  const at = now.toISOString();
  const lockedUntil = later(lockBy(verdict, state, now, policy), lockOfPerson);
  const lock: readonly PartyEvent[] =
    lockedUntil === null ? [] : [{ type: 'PartyLocked', data: { attemptId, lockedUntil } }];
  switch (verdict.kind) {
    case 'challenged': {
      const { otp, questions } = verdict;
      const smsSentAt = otp ? at : null;
      const reference = { sessionId, subjectId, vendor, ...(personIds && { personIds }) };
      return [{ type: 'ReauthenticationChallenged', data: { attemptId, otp, questions, smsSentAt, ...reference } }];
    }
    case 'confirmed':
      // Right, but too late: meanwhile other answers have locked the person.
      if (lockedUntil !== null) return lock;
      return [{ type: 'PartyReauthenticated', data: { attemptId, authenticatedAt: at } }];
    case 'sent':
      return [{ type: 'ReauthenticationCodeSent', data: { attemptId, smsSentAt: at } }];
    case 'wrong':
      return [{ type: 'ReauthenticationRejected', data: { attemptId, rejectedAt: at } }, ...lock];
    case 'locked':
      return isAnswer(attempt)
        ? [{ type: 'ReauthenticationRejected', data: { attemptId, rejectedAt: at } }, ...lock]
        : lock;
    case 'over':
      return [{ type: 'ReauthenticationEnded', data: { attemptId, cause: verdict.cause } }];
    case 'unavailable':
      return [{ type: 'ReauthenticationAbandoned', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
    case 'timed-out':
      return [];
    default:
      return verdict satisfies never;
  }
}

/** Until when the verdict on the call that is with the vendor locks the party, by the vendor's word or by the party's own count; null when it does not. */
export function lockBy(verdict: PartyVerdict, state: PartyState, now: Date, policy: LockPolicy): string | null {
  const left = attemptsLeft(state, now, policy) - 1;
  const own = new Date(now.getTime() + policy.lockSeconds * 1_000).toISOString();
  switch (verdict.kind) {
    case 'wrong':
      return Math.min(verdict.attemptsRemaining ?? Infinity, left) > 0 ? null : own;
    case 'locked': {
      // With an answer, the lock is the vendor's way to say that it was wrong. The last wrong answer locks for as long as ever.
      const last = state.attempt?.operation !== 'reauthentication' && left <= 0;
      return last ? own : (verdict.unblockAt ?? own);
    }
    default:
      return null;
  }
}

export function isAnswer({ operation }: Attempt): boolean {
  return operation === 'otp' || operation === 'kba';
}

function later(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one;
}

/** Wrong answers that would not lock the party yet, and the one that would. Another challenge gives none back. */
function attemptsLeft({ wrongAt }: PartyState, now: Date, { attemptsAllowed, lockSeconds }: LockPolicy): number {
  const since = now.getTime() - lockSeconds * 1_000;
  return Math.max(0, attemptsAllowed - wrongAt.filter((at) => new Date(at).getTime() > since).length);
}

function refuseLocked(state: PartyState, now: Date): void {
  const blockedUntil = lockAt(state, now);
  if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
}

/** One call at a time: of two answers the second could be judged beyond the limit. */
function refuseBusy({ attempt }: PartyState): void {
  if (attempt) throw new DomainError('screening.attempt_in_progress', { retryAfterSeconds: 1 });
}

/** What is to be answered. While a new challenge is being asked for, the old one is over. */
function challengeOf(state: PartyState, now: Date): Challenge {
  refuseLocked(state, now);
  if (state.attempt?.operation === 'reauthentication') refuseBusy(state);
  if (state.challenge === null) throw new DomainError('party.no_challenge');
  return state.challenge;
}

function arePositionsIn(questions: ChallengeShape['questions'], positions: unknown): positions is readonly number[] {
  return (
    Array.isArray(positions) &&
    positions.length === questions.length &&
    questions.every(({ answerCount }, index) => {
      const position: unknown = positions[index];
      return typeof position === 'number' && Number.isInteger(position) && position >= 1 && position <= answerCount;
    })
  );
}

/** The call that is with the vendor, if it is this one. */
export function pendingOf({ attempt }: PartyState, attemptId: string): Attempt | null {
  return attempt?.attemptId === attemptId ? attempt : null;
}

function requested({ attemptId, settleAfter, giveUpAfter }: NewAttempt): Requested {
  return { attemptId, settleAfter: settleAfter.toISOString(), giveUpAfter: giveUpAfter.toISOString() };
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
    case 'ReauthenticationRejected':
      return { ...state, attempt: null, wrongAt: [...state.wrongAt, event.data.rejectedAt].slice(-REMEMBERED_ANSWERS) };
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
      // What led to the lock is paid for with it.
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
