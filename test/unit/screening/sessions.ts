// Histories and commands of screening sessions, for the tests in this folder.
import type { NewAttempt, QuestionShape, Requested } from '../../../src/challenges/domain/challenge.js';
import type { Standing } from '../../../src/challenges/domain/verdict.js';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import { given, type Given } from '../../support/decider.js';
import { screeningSession, type SessionCommand } from '../../../src/modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../../../src/modules/screening/domain/session.js';
import type { VerdictPolicy } from '../../../src/modules/screening/domain/verdicts.js';

export type GivenSession = Given<SessionState, SessionCommand, SessionEvent>;
export type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

export const START = new Date('2026-03-01T12:00:00.000Z');

/** The time that is `seconds` after the start. */
export function at(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1_000);
}
export const iso = (seconds: number): string => at(seconds).toISOString();

export const POLICY: VerdictPolicy = {
  attemptsAllowed: 3,
  stepUpTtlSeconds: 1_800,
  lockSeconds: 86_400,
  reviewSeconds: 604_800,
};
/** A person who has given no wrong answer in another session. */
export const UNTROUBLED: Standing = { lockedUntil: null, attemptsRemaining: 3 };
export const QUESTIONS: readonly QuestionShape[] = [
  { questionId: 1, answerCount: 5 },
  { questionId: 2, answerCount: 5 },
  { questionId: 3, answerCount: 4 },
];
export const RIGHT_FORM = [
  { questionId: 1, answerId: 5 },
  { questionId: 2, answerId: 1 },
  { questionId: 3, answerId: 4 },
];

export function attempt(attemptId: string, seconds = 0): NewAttempt {
  return { now: at(seconds), attemptId, settleAfter: at(seconds + 22), giveUpAfter: at(seconds + 82) };
}

export function requested(attemptId: string, seconds = 0): Requested {
  return { attemptId, settleAfter: iso(seconds + 22), giveUpAfter: iso(seconds + 82) };
}

export const SUBMIT: Extract<SessionCommand, { kind: 'submit' }> = {
  kind: 'submit',
  ...attempt('registration'),
  subjectId: 'subject',
  personId: 'person',
  userType: 'CONSUMER',
  termsAcceptedAt: '2026-03-01T11:59:00.000Z',
  paymentRequired: true,
  vendors: FIRST_CHOICE,
};

export const SUBMITTED: Extract<SessionEvent, { type: 'ScreeningSubmitted' }> = {
  type: 'ScreeningSubmitted',
  data: {
    subjectId: 'subject',
    personId: 'person',
    userType: 'CONSUMER',
    termsAcceptedAt: '2026-03-01T11:59:00.000Z',
    paymentRequired: true,
    vendors: FIRST_CHOICE,
  },
};
export const REGISTERING: SessionEvent = { type: 'VerificationRequested', data: requested('registration') };

export function stepUp(methods: readonly ('OTP' | 'KBA')[]): EventOf<'StepUpRequired'> {
  return {
    type: 'StepUpRequired',
    data: {
      attemptId: 'registration',
      methods,
      questions: methods.includes('KBA') ? QUESTIONS : [],
      attemptsAllowed: 3,
      expiresAt: iso(1_800),
      smsSentAt: methods.includes('OTP') ? iso(0) : null,
      duplicateGuard: false,
    },
  };
}

export const submitted = (): GivenSession => given(screeningSession, SUBMITTED, REGISTERING);
export const withOtp = (): GivenSession => submitted().and(stepUp(['OTP']));
export const withKba = (): GivenSession => submitted().and(stepUp(['KBA']));
export const withChoice = (): GivenSession => submitted().and(stepUp(['OTP', 'KBA']));

export const otpReceived = (attemptId: string, seconds = 0): SessionEvent => ({
  type: 'OtpAnswerReceived',
  data: requested(attemptId, seconds),
});
export const kbaReceived = (attemptId: string, seconds = 0): SessionEvent => ({
  type: 'KbaAnswersReceived',
  data: requested(attemptId, seconds),
});
export const resendRequested = (attemptId: string, seconds = 0): SessionEvent => ({
  type: 'OtpResendRequested',
  data: requested(attemptId, seconds),
});
export const resent = (attemptId: string, seconds: number): SessionEvent => ({
  type: 'OtpResent',
  data: { attemptId, smsSentAt: iso(seconds) },
});
export const rejected = (
  method: 'Otp' | 'Kba',
  attemptId: string,
  attemptsRemaining: number,
  seconds = 0,
): SessionEvent => ({
  type: `${method}Rejected`,
  data: { attemptId, attemptsRemaining, expiresAt: iso(seconds + 1_800) },
});

export const answerOtp = (attemptId: string, { code = '123456' as unknown, seconds = 0 } = {}): SessionCommand => ({
  kind: 'answer-otp',
  ...attempt(attemptId, seconds),
  code,
});
export const answerKba = (
  attemptId: string,
  { answers = RIGHT_FORM as unknown, seconds = 0 } = {},
): SessionCommand => ({ kind: 'answer-kba', ...attempt(attemptId, seconds), answers });
export const resend = (attemptId: string, seconds: number): SessionCommand => ({
  kind: 'resend-otp',
  ...attempt(attemptId, seconds),
  intervalSeconds: 30,
});

type Recorded<Kind extends SessionCommand['kind']> = Extract<
  SessionCommand,
  { kind: Kind; verdict: unknown }
>['verdict'];

export const record = <Kind extends 'record-registration' | 'record-verdict'>(
  kind: Kind,
  attemptId: string,
  verdict: Recorded<Kind>,
  seconds = 0,
  standing = UNTROUBLED,
): SessionCommand =>
  ({
    kind,
    now: at(seconds),
    attemptId,
    verdict,
    policy: POLICY,
    ...(kind === 'record-verdict' && { standing }),
  }) as SessionCommand;

/** One event for each way in which a session can end. */
export const OVER: Readonly<Record<'VERIFIED' | 'BLOCKED' | 'EXPIRED' | 'ERROR', SessionEvent>> = {
  VERIFIED: {
    type: 'IdentityVerified',
    data: { attemptId: 'registration', verifiedAt: iso(0), duplicateGuard: false },
  },
  BLOCKED: {
    type: 'SessionBlocked',
    data: { attemptId: 'registration', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: iso(86_400) },
  },
  EXPIRED: { type: 'SessionExpired', data: { cause: 'NO_ANSWER' } },
  ERROR: { type: 'SessionErrored', data: { attemptId: 'registration', cause: 'NO_VERDICT' } },
};
