// One-time codes and questions (docs/contract/platform.md#codes-and-answers, #ends-of-a-session).
import { describe, expect, it } from '@jest/globals';
import { areAnswersTo } from '../../../src/challenges/domain/challenge.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import type { SessionEvent } from '../../../src/modules/screening/domain/session.js';
import { given } from '../../support/decider.js';
import {
  answerKba,
  answerOtp,
  at,
  type GivenSession,
  iso,
  kbaReceived,
  otpReceived,
  OVER,
  QUESTIONS,
  record,
  rejected,
  resend,
  resendRequested,
  resent,
  RIGHT_FORM,
  stepUp,
  submitted,
  withChoice,
  withKba,
  withOtp,
} from './sessions.js';

const answered = (attemptId: string, verdict: Parameters<typeof record<'record-verdict'>>[2], seconds = 0) =>
  record('record-verdict', attemptId, verdict, seconds);
const blocked = (attemptId: string, blockedUntil: string | null): SessionEvent => ({
  type: 'SessionBlocked',
  data: { attemptId, reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil },
});
const CODE_RULE = { field: 'otp.code', details: [{ field: 'otp.code', message: 'must have four to eight digits' }] };
const ANSWERS_RULE = {
  field: 'kba.answers',
  details: [{ field: 'kba.answers', message: 'must have exactly one of the offered answers to each open question' }],
};
const NO_CODES = { rule: 'Codes are not offered.' };
const NO_QUESTIONS = { rule: 'Questions are not offered.' };

describe('a one-time code', () => {
  it('makes the session OTP_PENDING and is sent to the vendor', () => {
    const { state } = withOtp()
      .when(answerOtp('one', { seconds: 9 }))
      .then(otpReceived('one', 9));
    expect(state).toMatchObject({
      status: 'OTP_PENDING',
      attempt: { attemptId: 'one', operation: 'otp' },
      stepUp: { otp: true, attemptsRemaining: 3 },
    });
  });

  it('that is right makes the session VERIFIED', () => {
    const { state } = withOtp()
      .and(otpReceived('one'))
      .when(answered('one', { kind: 'confirmed' }, 8))
      .then({ type: 'IdentityVerified', data: { attemptId: 'one', verifiedAt: iso(8), duplicateGuard: false } });
    expect(state).toMatchObject({ status: 'VERIFIED', verifiedAt: iso(8) });
  });

  it('that is wrong leaves the session OTP_PENDING with one attempt less and another 30 minutes', () => {
    const { state } = withOtp()
      .and(otpReceived('one'))
      .when(answered('one', { kind: 'wrong', attemptsRemaining: null }, 60))
      .then(rejected('Otp', 'one', 2, 60));
    expect(state).toMatchObject({
      status: 'OTP_PENDING',
      attempt: null,
      stepUp: { attemptsRemaining: 2, answeredWrong: true, expiresAt: iso(1_860) },
    });
  });

  it('that is wrong three times makes the session BLOCKED for 24 hours', () => {
    let session = withOtp();
    for (const [index, attemptId] of ['one', 'two'].entries()) {
      session = session
        .and(otpReceived(attemptId))
        .when(answered(attemptId, { kind: 'wrong', attemptsRemaining: null }))
        .then(rejected('Otp', attemptId, 2 - index));
    }
    const { state } = session
      .and(otpReceived('three'))
      .when(answered('three', { kind: 'wrong', attemptsRemaining: null }, 100))
      .then(rejected('Otp', 'three', 0, 100), blocked('three', iso(100 + 86_400)));
    expect(state).toMatchObject({
      status: 'BLOCKED',
      reasonCode: 'TOO_MANY_ATTEMPTS',
      blockedUntil: iso(100 + 86_400),
    });
  });

  it('without 4 to 8 digits is refused with INVALID_OTP, and uses up no attempt', () => {
    for (const code of [
      undefined,
      null,
      '',
      '123',
      '123456789',
      '12a4',
      ' 1234',
      '1234\n',
      '12.4',
      '-1234',
      '\u0661\u0662\u0663\u0664',
      123456,
      ['1234'],
      { code: '1234' },
      true,
    ]) {
      withOtp()
        .when({ ...answerOtp('one'), code } as ReturnType<typeof answerOtp>)
        .thenRefused('screening.otp_unusable', CODE_RULE);
    }
    for (const code of ['1234', '00000', '12345678'])
      withOtp().when(answerOtp('one', { code })).then(otpReceived('one'));
  });

  it('is refused with INVALID_OTP when only questions are offered', () => {
    withKba().when(answerOtp('one')).thenRefused('screening.otp_unusable', NO_CODES);
  });
});

describe('when the person also answers in other sessions', () => {
  const LOCKED = { lockedUntil: iso(500), attemptsRemaining: 0 };

  it('a wrong answer leaves the session no more attempts than the person has left', () => {
    const { state } = withOtp()
      .and(otpReceived('one'))
      .when(
        record('record-verdict', 'one', { kind: 'wrong', attemptsRemaining: 2 }, 0, {
          lockedUntil: null,
          attemptsRemaining: 1,
        }),
      )
      .then(rejected('Otp', 'one', 1));
    expect(state).toMatchObject({ status: 'OTP_PENDING', stepUp: { attemptsRemaining: 1 } });
  });

  it('the last wrong answer of the person gives BLOCKED, although the session had attempts left', () => {
    withKba()
      .and(kbaReceived('one'))
      .when(record('record-verdict', 'one', { kind: 'wrong', attemptsRemaining: null }, 0, LOCKED))
      .then(rejected('Kba', 'one', 0), blocked('one', iso(500)));
  });

  it('a right answer gives BLOCKED, never VERIFIED, after another session has locked the person', () => {
    withOtp()
      .and(otpReceived('one'))
      .when(record('record-verdict', 'one', { kind: 'confirmed' }, 0, LOCKED))
      .then(blocked('one', iso(500)));
  });

  it('a lock from another session gives BLOCKED in this session too, even while an answer is at the vendor', () => {
    for (const session of [withOtp(), withChoice().and(kbaReceived('one'))])
      session
        .when({ kind: 'block', attemptId: 'elsewhere', lockedUntil: iso(500) })
        .then(blocked('elsewhere', iso(500)));
    for (const session of [submitted(), withOtp().and(OVER.VERIFIED), withOtp().and(OVER.EXPIRED)])
      session.when({ kind: 'block', attemptId: 'elsewhere', lockedUntil: iso(500) }).then();
  });
});

describe('a session of a person who has opened too many newer sessions', () => {
  it('is EXPIRED while it waits for an answer, and unchanged otherwise', () => {
    withOtp()
      .when({ kind: 'supersede' })
      .then({ type: 'SessionExpired', data: { cause: 'SUPERSEDED' } });
    for (const session of [submitted(), withOtp().and(OVER.VERIFIED), withOtp().and(OVER.BLOCKED)])
      session.when({ kind: 'supersede' }).then();
  });
});

describe('answers to the questions', () => {
  it('make the session KBA_PENDING and are sent to the vendor', () => {
    const { state } = withKba().when(answerKba('one')).then(kbaReceived('one'));
    expect(state).toMatchObject({ status: 'KBA_PENDING', attempt: { attemptId: 'one', operation: 'kba' } });
  });

  it('that are right make the session VERIFIED', () => {
    expect(
      withKba()
        .and(kbaReceived('one'))
        .when(answered('one', { kind: 'confirmed' })).decided.state.status,
    ).toBe('VERIFIED');
  });

  it('that are wrong leave the session KBA_PENDING with one attempt less, and make it BLOCKED at the third time', () => {
    let session: GivenSession = withKba();
    for (const [index, attemptId] of ['one', 'two'].entries()) {
      session = session
        .and(kbaReceived(attemptId))
        .when(answered(attemptId, { kind: 'wrong', attemptsRemaining: null }, index))
        .then(rejected('Kba', attemptId, 2 - index, index));
      expect(session.state).toMatchObject({
        status: 'KBA_PENDING',
        stepUp: { attemptsRemaining: 2 - index, answeredWrong: true },
      });
    }
    session
      .and(kbaReceived('three'))
      .when(answered('three', { kind: 'wrong', attemptsRemaining: null }))
      .then(rejected('Kba', 'three', 0), blocked('three', iso(86_400)));
  });

  it('are accepted in any order of the questions', () => {
    withKba()
      .when(answerKba('one', { answers: [...RIGHT_FORM].reverse() }))
      .then(kbaReceived('one'));
  });

  it('that are malformed, foreign or incomplete are refused with INVALID_KBA, and use up no attempt', () => {
    const [first, second, third] = RIGHT_FORM as [object, object, object];
    const bad: unknown[] = [
      undefined,
      null,
      '',
      'answers',
      7,
      {},
      [],
      RIGHT_FORM.slice(1),
      [...RIGHT_FORM, first],
      [first, first, third],
      [first, second, null],
      [first, second, 4],
      [first, second, []],
      [first, second, { questionId: 4, answerId: 1 }],
      [first, second, { questionId: 3, answerId: 5 }],
      [first, second, { questionId: 3, answerId: 0 }],
      [first, second, { questionId: 3, answerId: -1 }],
      [first, second, { questionId: 3, answerId: 1.5 }],
      [first, second, { questionId: 3, answerId: '1' }],
      [first, second, { questionId: '3', answerId: 1 }],
      [first, second, { questionId: 3 }],
      [first, second, { questionId: 3, answerId: Number.NaN }],
      { length: 3, 0: first, 1: second, 2: third },
      JSON.parse('[{"__proto__":{"questionId":1,"answerId":1}},{},{}]'),
    ];
    for (const answers of bad)
      withKba()
        .when({ ...answerKba('one'), answers } as ReturnType<typeof answerKba>)
        .thenRefused('screening.kba_unusable', ANSWERS_RULE);
  });

  it('are accepted with unknown fields', () => {
    expect(
      areAnswersTo(
        QUESTIONS,
        RIGHT_FORM.map((answer) => ({ ...answer, text: 'Elm Street' })),
      ),
    ).toBe(true);
  });

  it('are refused with INVALID_KBA when only codes are offered', () => {
    withOtp().when(answerKba('one')).thenRefused('screening.kba_unusable', NO_QUESTIONS);
  });
});

describe('the choice between codes and questions', () => {
  it('can change from codes to questions, but not back', () => {
    const turned = withChoice()
      .and(otpReceived('one'), rejected('Otp', 'one', 2))
      .when(answerKba('two'))
      .then(kbaReceived('two'));
    expect(turned.state).toMatchObject({
      status: 'KBA_PENDING',
      stepUp: { otp: false, kba: true, attemptsRemaining: 2 },
    });
    const wrong = turned.and(rejected('Kba', 'two', 1));
    wrong.when(answerOtp('three')).thenRefused('screening.otp_unusable', NO_CODES);
    wrong.when(resend('three', 1_000)).thenRefused('screening.otp_unusable', NO_CODES);
    wrong.when(answerKba('three')).then(kbaReceived('three'));
  });

  it('has three attempts for both methods together', () => {
    withChoice()
      .and(
        otpReceived('one'),
        rejected('Otp', 'one', 2),
        otpReceived('two'),
        rejected('Otp', 'two', 1),
        kbaReceived('three'),
      )
      .when(answered('three', { kind: 'wrong', attemptsRemaining: null }))
      .then(rejected('Kba', 'three', 0), blocked('three', iso(86_400)));
  });

  it('may begin with the questions', () => {
    expect(withChoice().when(answerKba('one')).then(kbaReceived('one')).state.status).toBe('KBA_PENDING');
  });
});

describe("the vendor's count of attempts", () => {
  const wrong = (attemptsRemaining: number | null, session = withOtp().and(otpReceived('one'))) =>
    session.when(answered('one', { kind: 'wrong', attemptsRemaining }));

  it("is used when it is lower than the service's count", () => {
    wrong(1).then(rejected('Otp', 'one', 1));
    wrong(0).then(rejected('Otp', 'one', 0), blocked('one', iso(86_400)));
  });

  it('is used when it does not decrease after a wrong answer', () => {
    wrong(3).then(rejected('Otp', 'one', 3));
  });

  it('never raises the number of attempts that the caller has seen', () => {
    wrong(5).then(rejected('Otp', 'one', 3));
    wrong(3, withOtp().and(otpReceived('zero'), rejected('Otp', 'zero', 2), otpReceived('one'))).then(
      rejected('Otp', 'one', 2),
    );
  });

  it('below zero counts as zero', () => {
    wrong(-1).then(rejected('Otp', 'one', 0), blocked('one', iso(86_400)));
  });
});

describe("a vendor's verdict on an answer", () => {
  const waiting = withOtp().and(otpReceived('one'));

  it("locked: the answer counts as wrong, and the session is BLOCKED until the vendor's time, or for 24 hours without one", () => {
    waiting
      .when(answered('one', { kind: 'locked', unblockAt: '2026-03-02T08:00:00.000Z' }))
      .then(rejected('Otp', 'one', 0), blocked('one', '2026-03-02T08:00:00.000Z'));
    waiting
      .when(answered('one', { kind: 'locked', unblockAt: null }, 7))
      .then(rejected('Otp', 'one', 0, 7), blocked('one', iso(7 + 86_400)));
  });

  it("wrong, and recorded in the session after the person's count: BLOCKED until the lock of the person ends", () => {
    const counted = { lockedUntil: iso(86_400), attemptsRemaining: 0 };
    withOtp()
      .and(otpReceived('zero'), rejected('Otp', 'zero', 1), otpReceived('one'))
      .when(record('record-verdict', 'one', { kind: 'wrong', attemptsRemaining: null }, 7, counted))
      .then(rejected('Otp', 'one', 0, 7), blocked('one', counted.lockedUntil));
  });

  it('vendor session over: EXPIRED', () => {
    expect(
      waiting
        .when(answered('one', { kind: 'session-over' }))
        .then({ type: 'SessionExpired', data: { cause: 'VENDOR_SESSION_OVER' } }).state.status,
    ).toBe('EXPIRED');
  });

  it('refused: BLOCKED for that reason, without an end', () => {
    waiting
      .when(answered('one', { kind: 'refused', reason: 'FRAUD_REPORTED' }))
      .then({ type: 'SessionBlocked', data: { attemptId: 'one', reasonCode: 'FRAUD_REPORTED', blockedUntil: null } });
  });

  it('unintelligible: ERROR', () => {
    waiting
      .when(answered('one', { kind: 'unintelligible' }))
      .then({ type: 'SessionErrored', data: { attemptId: 'one', cause: 'VENDOR_UNINTELLIGIBLE' } });
  });

  it('unavailable: state and attempts are as before', () => {
    const abandoned = { type: 'AttemptAbandoned', data: { attemptId: 'one', cause: 'VENDOR_UNAVAILABLE' } } as const;
    expect(waiting.when(answered('one', { kind: 'unavailable' })).then(abandoned).state).toEqual({
      ...withOtp().state,
      attemptIds: ['registration', 'one'],
      abandoned: { attemptId: 'one', cause: 'VENDOR_UNAVAILABLE' },
    });
    const after = withChoice().and(otpReceived('zero'), rejected('Otp', 'zero', 2));
    expect(
      after
        .and(kbaReceived('one'))
        .when(answered('one', { kind: 'unavailable' }))
        .then(abandoned).state,
    ).toEqual({
      ...after.state,
      attemptIds: ['registration', 'zero', 'one'],
      abandoned: { attemptId: 'one', cause: 'VENDOR_UNAVAILABLE' },
    });
    expect(
      withChoice()
        .and(kbaReceived('one'))
        .when(answered('one', { kind: 'unavailable' }))
        .decided.when(answerOtp('two')).events,
    ).toHaveLength(1);
  });

  it('late: the attempts are unchanged, and the verdict still counts when it arrives', () => {
    const late = waiting.when(answered('one', { kind: 'timed-out' })).then();
    expect(late.state).toEqual(waiting.state);
    expect(late.when(answered('one', { kind: 'wrong', attemptsRemaining: null }, 300)).decided.state).toMatchObject({
      stepUp: { attemptsRemaining: 2 },
    });
  });

  it('never executed: state and attempts are as before', () => {
    const { state } = waiting
      .when({ kind: 'record-not-executed', attemptId: 'one' })
      .then({ type: 'AttemptAbandoned', data: { attemptId: 'one', cause: 'NOT_EXECUTED' } });
    expect(state).toEqual({
      ...withOtp().state,
      attemptIds: ['registration', 'one'],
      abandoned: { attemptId: 'one', cause: 'NOT_EXECUTED' },
    });
  });

  it('unknown: ERROR when the attempt is old enough', () => {
    waiting.when({ kind: 'give-up', now: at(81), attemptId: 'one' }).then();
    waiting
      .when({ kind: 'give-up', now: at(82), attemptId: 'one' })
      .then({ type: 'SessionErrored', data: { attemptId: 'one', cause: 'NO_VERDICT' } });
  });

  it('counts once, and only for its own attempt', () => {
    for (const command of [
      answered('another', { kind: 'confirmed' }),
      record('record-registration', 'one', { kind: 'confirmed', duplicateGuard: false }),
      record('record-verdict', 'one', { kind: 'sent' }),
      { kind: 'record-not-executed', attemptId: 'another' } as const,
      { kind: 'give-up', now: at(9_999), attemptId: 'another' } as const,
    ]) {
      waiting.when(command).then();
    }
    waiting
      .when(answered('one', { kind: 'wrong', attemptsRemaining: null }))
      .decided.when(answered('one', { kind: 'wrong', attemptsRemaining: null }))
      .then();
  });
});

describe('an attempt id that the session knows', () => {
  it('is not reserved again, neither while the attempt is open nor after it has ended', () => {
    const open = withChoice().and(otpReceived('one'));
    open.when(answerOtp('one')).then();
    open
      .and(rejected('Otp', 'one', 2))
      .when(answerOtp('one', { seconds: 60 }))
      .then();
    open
      .and(rejected('Otp', 'one', 2), OVER.VERIFIED)
      .when(answerOtp('one'))
      .then();
    const answeredWrong = withKba().and(kbaReceived('one'), rejected('Kba', 'one', 2));
    answeredWrong.when(answerKba('one', { seconds: 60 })).then();
    withOtp().and(resendRequested('one', 30), resent('one', 30)).when(resend('one', 90)).then();
  });
});

describe('an answer at the wrong time', () => {
  it('is refused with ATTEMPT_IN_PROGRESS while another answer is at the vendor', () => {
    for (const waiting of [withChoice().and(otpReceived('one')), withChoice().and(kbaReceived('one'))]) {
      waiting.when(answerKba('two')).thenRefused('screening.attempt_in_progress');
    }
    withOtp().and(otpReceived('one')).when(answerOtp('two')).thenRefused('screening.attempt_in_progress');
    withOtp().and(otpReceived('one')).when(resend('two', 60)).thenRefused('screening.attempt_in_progress');
    submitted().when(answerOtp('two')).thenRefused('screening.attempt_in_progress');
  });

  it('changes nothing in a BLOCKED session, whatever the answer', () => {
    const over = withChoice().and(OVER.BLOCKED);
    for (const code of ['123456', 'x', undefined]) over.when(answerOtp('one', { code })).then();
    for (const answers of [RIGHT_FORM, []]) over.when(answerKba('one', { answers })).then();
  });

  it('is refused with SESSION_EXPIRED in a VERIFIED, EXPIRED or ERROR session, before its form is checked', () => {
    for (const status of ['VERIFIED', 'EXPIRED', 'ERROR'] as const) {
      const over = withChoice().and(OVER[status]);
      over.when(answerOtp('one', { code: 'x' })).thenRefused('screening.session_spent');
      over.when(answerKba('one', { answers: [] })).thenRefused('screening.session_spent');
      over.when(resend('one', 100)).thenRefused('screening.session_spent');
    }
  });

  it('is refused with NOT_FOUND in a session that does not exist', () => {
    given(screeningSession).when(answerOtp('one')).thenRefused('screening.not_found');
    given(screeningSession).when(answerKba('one')).thenRefused('screening.not_found');
    given(screeningSession).when(resend('one', 0)).thenRefused('screening.not_found');
  });
});

describe('a step-up without an answer', () => {
  const expired = { type: 'SessionExpired', data: { cause: 'NO_ANSWER' } } as const;

  it('expires 30 minutes after it began, and not earlier', () => {
    for (const session of [withOtp(), withKba(), withChoice()]) {
      session.when({ kind: 'expire', now: at(1_799.999) }).then();
      expect(session.when({ kind: 'expire', now: at(1_800) }).then(expired).state.status).toBe('EXPIRED');
    }
  });

  it('expires 30 minutes after the last answer', () => {
    const wrong = withOtp().and(otpReceived('one', 600), rejected('Otp', 'one', 2, 600));
    wrong.when({ kind: 'expire', now: at(2_399) }).then();
    wrong.when({ kind: 'expire', now: at(2_400) }).then(expired);
  });

  it('does not expire while an answer is at the vendor', () => {
    withOtp()
      .and(otpReceived('one', 1_700))
      .when({ kind: 'expire', now: at(5_000) })
      .then();
  });

  it('expires once, and not after the session has ended', () => {
    for (const end of Object.values(OVER))
      withOtp()
        .and(end)
        .when({ kind: 'expire', now: at(5_000) })
        .then();
    given(screeningSession)
      .when({ kind: 'expire', now: at(5_000) })
      .then();
  });

  it('is not extended by another SMS', () => {
    const session = submitted()
      .and(stepUp(['OTP']))
      .and(
        { type: 'OtpResendRequested', data: { attemptId: 'one', settleAfter: iso(1_700), giveUpAfter: iso(1_760) } },
        { type: 'OtpResent', data: { attemptId: 'one', smsSentAt: iso(1_680) } },
      );
    session.when({ kind: 'expire', now: at(1_800) }).then(expired);
  });
});
