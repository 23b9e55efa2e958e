// Commands to a party, for the tests in this folder.
import type { AnswerLimit } from '../../../src/challenges/domain/answer-limit.js';
import type { NewAttempt } from '../../../src/challenges/domain/challenge.js';
import type { Verdict } from '../../../src/challenges/domain/verdict.js';
import type { ErrorCode } from '../../../src/kernel/error-codes.js';
import type { PartyEvent, PartyState, Reference } from '../../../src/modules/parties/domain/party.js';
import { party, type PartyCommand } from '../../../src/modules/parties/domain/party-decider.js';
import { given, type Given } from '../../support/decider.js';

export type GivenParty = Given<PartyState, PartyCommand, PartyEvent>;
export type { ErrorCode };

export const POLICY: AnswerLimit = { attemptsAllowed: 3, lockSeconds: 86_400 };
export const REFERENCE: Reference = { sessionId: 'session', subjectId: 'subject', vendor: 'idv' };

const QUESTIONS = [{ questionId: 7, answerCount: 5 }];

/** The time that is `seconds` after the start. */
export function at(seconds: number): Date {
  return new Date(Date.parse('2026-03-01T12:00:00.000Z') + seconds * 1_000);
}
export const iso = (seconds: number): string => at(seconds).toISOString();

const attempt = (attemptId: string, seconds: number): NewAttempt => ({
  now: at(seconds),
  attemptId,
  settleAfter: at(seconds + 22),
  giveUpAfter: at(seconds + 82),
});

export const register = (sessionId = 'session', after: string | null = null, seconds = 0): PartyCommand => ({
  kind: 'register',
  of: 'agent',
  sessionId,
  after,
  bodyHash: 'hash',
  registeredAt: iso(seconds),
});
export const storeToken = (subjectId = 'token-subject', seconds = 0): PartyCommand => ({
  kind: 'store-token',
  of: 'organization',
  subjectId,
  storedAt: iso(seconds),
});
export const reauthenticate = (attemptId = 'auth', seconds = 10): PartyCommand => ({
  kind: 'reauthenticate',
  ...attempt(attemptId, seconds),
  reference: REFERENCE,
});
export const answerOtp = (attemptId: string, seconds = 20, code: unknown = '123456'): PartyCommand => ({
  kind: 'answer-otp',
  ...attempt(attemptId, seconds),
  code,
});
export const answerKba = (attemptId: string, seconds = 20, positions: unknown = [2]): PartyCommand => ({
  kind: 'answer-kba',
  ...attempt(attemptId, seconds),
  answers: Array.isArray(positions)
    ? positions.map((answerId: unknown, at) => ({ questionId: QUESTIONS[at]?.questionId, answerId }))
    : positions,
});
export const resend = (attemptId: string, seconds: number): PartyCommand => ({
  kind: 'resend-otp',
  ...attempt(attemptId, seconds),
  intervalSeconds: 30,
});
export const record = (attemptId: string, verdict: Verdict, seconds = 20): PartyCommand => ({
  kind: 'record-verdict',
  now: at(seconds),
  attemptId,
  verdict,
  policy: POLICY,
  standing: null,
});
export const CHALLENGED: Verdict = {
  kind: 'step-up',
  otp: true,
  questions: QUESTIONS,
};
export const WRONG: Verdict = { kind: 'wrong', attemptsRemaining: null };

/** A registered party with an open challenge that offers a code and questions. */
export function challenged(): GivenParty {
  return given(party)
    .when(register())
    .decided.when(reauthenticate())
    .decided.when(record('auth', CHALLENGED, 10)).decided;
}

/** Gives an answer and records the vendor's verdict. */
export function answered(before: GivenParty, attemptId: string, verdict: Verdict, seconds = 20): GivenParty {
  return before.when(answerOtp(attemptId, seconds)).decided.when(record(attemptId, verdict, seconds)).decided;
}
