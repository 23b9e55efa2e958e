import { describe, expect, it } from '@jest/globals';
import { overallStatusOf, paymentStatusOf } from '../../../src/modules/screening/domain/overall-status.js';
import {
  attemptsLeftTo,
  saltOf,
  screenedPerson,
  subjectOf,
  type PersonEvent,
} from '../../../src/modules/screening/domain/screened-person.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { secretsEntry, type Session, type SessionEvent } from '../../../src/modules/screening/domain/session.js';
import { isId } from '../../../src/kernel/ids.js';
import { given } from '../../support/decider.js';
import { at, iso, otpReceived, OVER, REGISTERING, stepUp, SUBMITTED } from './sessions.js';

describe('the overall status of a session', () => {
  const session = (
    userType: 'CONSUMER' | 'AGENT' | 'PMC',
    paymentRequired: boolean,
    ...events: SessionEvent[]
  ): Session => {
    const first = { ...SUBMITTED, data: { ...SUBMITTED.data, userType, paymentRequired } } as SessionEvent;
    const { state } = given(screeningSession, first, REGISTERING, ...events);
    if (state.status === 'NONE') throw new Error('The session does not exist');
    return state;
  };

  it('is the raw status of a session that is not VERIFIED, with or without a payment', () => {
    const histories: SessionEvent[][] = [
      [],
      [stepUp(['OTP'])],
      [stepUp(['OTP']), otpReceived('one')],
      [OVER.BLOCKED],
      [OVER.EXPIRED],
      [OVER.ERROR],
    ];
    for (const history of histories) {
      for (const paymentRequired of [true, false]) {
        const one = session('CONSUMER', paymentRequired, ...history);
        expect(overallStatusOf(one)).toBe(one.status);
      }
    }
  });

  it('is PAYMENT_PENDING for a verified consumer who must pay, and COMPLETED for a verified consumer who need not pay', () => {
    const owing = session('CONSUMER', true, OVER.VERIFIED);
    expect([paymentStatusOf(owing), overallStatusOf(owing)]).toEqual(['PENDING', 'PAYMENT_PENDING']);
    const free = session('CONSUMER', false, OVER.VERIFIED);
    expect([paymentStatusOf(free), overallStatusOf(free)]).toEqual(['NOT_REQUIRED', 'COMPLETED']);
  });

  it('is COMPLETED for a verified agent or organization, with or without a payment', () => {
    for (const userType of ['AGENT', 'PMC'] as const) {
      for (const paymentRequired of [true, false])
        expect(overallStatusOf(session(userType, paymentRequired, OVER.VERIFIED))).toBe('COMPLETED');
    }
  });
});

describe('a screened person', () => {
  const open = (sessionId: string) => ({ kind: 'open', personId: 'person', sessionId, salt: 'salt' }) as const;
  /** `salt`: of the first session of the person. */
  const opened = (sessionId: string, subjectId: string, salt?: string): PersonEvent => ({
    type: 'ScreeningOpened',
    data: { sessionId, subjectId, ...(salt && { salt }) },
  });
  const first = subjectOf('person', screenedPerson.initial);

  it('remembers the opened sessions, the newest last, all under one vault subject', () => {
    const { state } = given(screenedPerson)
      .when(open('s1'))
      .then(opened('s1', first, 'salt'))
      .when(open('s2'))
      .then(opened('s2', first));
    expect(state).toEqual({
      salt: 'salt',
      sessionIds: ['s1', 's2'],
      lockedUntil: null,
      lockedBy: null,
      counted: [],
      admitted: [],
      wrong: [],
      erasedSubjects: [],
    });
    expect(isId(first)).toBe(true);
    expect(first).not.toContain('person');
  });

  it('keeps its first salt for ever, and gets one if its sessions are older than the salts', () => {
    const old = given(screenedPerson, opened('s1', first));
    old
      .when({ kind: 'store-salt', salt: 'one' })
      .then({ type: 'CaseSaltStored', data: { salt: 'one' } })
      .when({ kind: 'store-salt', salt: 'two' })
      .then()
      .when(open('s2'))
      .then(opened('s2', first));
    old.when(open('s2')).then(opened('s2', first, 'salt'));
    const salted: PersonEvent[] = [opened('s1', first), opened('s2', first, 'salt')];
    expect(saltOf(salted)).toBe('salt');
    expect(saltOf([...salted, { type: 'CaseSaltStored', data: { salt: 'late' } }])).toBe('salt');
    expect(saltOf([opened('s1', first)])).toBeNull();
    expect(given(screenedPerson, ...salted, { type: 'CaseSaltStored', data: { salt: 'late' } }).state.salt).toBe(
      'salt',
    );
  });

  it('opens a session only once', () => {
    given(screenedPerson, opened('s1', first)).when(open('s1')).then();
  });

  it('stays locked until the last of its locks ends', () => {
    const locked = given(screenedPerson, opened('s1', first))
      .when({ kind: 'record-lock', sessionId: 's1', lockedUntil: '2026-03-02T00:00:00.000Z' })
      .then({ type: 'PersonLocked', data: { sessionId: 's1', lockedUntil: '2026-03-02T00:00:00.000Z' } });
    locked.when({ kind: 'record-lock', sessionId: 's1', lockedUntil: '2026-03-01T00:00:00.000Z' }).then();
    locked
      .when({ kind: 'record-lock', sessionId: 's2', lockedUntil: '2026-03-03T00:00:00.000Z' })
      .then({ type: 'PersonLocked', data: { sessionId: 's2', lockedUntil: '2026-03-03T00:00:00.000Z' } });
  });

  it('gets another vault subject after an erasure, and never the old one again', () => {
    const erased = given(screenedPerson, opened('s1', first, 'salt'))
      .when({ kind: 'record-erasure', subjectId: first })
      .then({ type: 'SubjectKeyDestroyed', data: { subjectId: first } });
    const second = subjectOf('person', erased.state);
    expect(second).not.toBe(first);
    erased.when(open('s2')).then(opened('s2', second)).when(open('s3')).then(opened('s3', second));
    erased.when({ kind: 'record-erasure', subjectId: first }).then();
  });

  it('never shares a subject with another person', () => {
    expect(subjectOf('another', screenedPerson.initial)).not.toBe(first);
  });

  it('remembers the newest twenty sessions', () => {
    const all = Array.from({ length: 25 }, (_, index) => opened(`s${index}`, first));
    expect(given(screenedPerson, ...all).state.sessionIds).toEqual(
      Array.from({ length: 20 }, (_, index) => `s${index + 5}`),
    );
  });

  it('keeps its state when it reads an event of a later version of the service', () => {
    const later = { type: 'SomethingNew', data: {} } as unknown as PersonEvent;
    expect(given(screenedPerson, opened('s1', first), later).state.sessionIds).toEqual(['s1']);
  });
});

describe('the wrong answers of a person', () => {
  const limit = { attemptsAllowed: 3, lockSeconds: 86_400 };
  const admit = (attemptId: string, seconds = 0, sessionId = 's1') =>
    ({ kind: 'admit-answer', now: at(seconds), sessionId, attemptId, giveUpAfter: at(seconds + 82), limit }) as const;
  const admitted = (attemptId: string, seconds = 0, sessionId = 's1'): PersonEvent => ({
    type: 'AnswerAdmitted',
    data: { sessionId, attemptId, giveUpAfter: iso(seconds + 82) },
  });
  const wrong = (attemptId: string, { seconds = 0, sessionId = 's1', lockedUntil = null as string | null } = {}) =>
    ({ kind: 'count-wrong', now: at(seconds), sessionId, attemptId, lockedUntil, limit }) as const;
  const counted = (attemptId: string, seconds = 0, sessionId = 's1'): PersonEvent => ({
    type: 'WrongAnswerCounted',
    data: { sessionId, attemptId, answeredAt: iso(seconds) },
  });
  const locked = (sessionId: string, lockedUntil: string): PersonEvent => ({
    type: 'PersonLocked',
    data: { sessionId, lockedUntil },
  });

  it('lock the person at the third, even if each was given in another session', () => {
    given(screenedPerson)
      .when(wrong('a', { sessionId: 's1' }))
      .then(counted('a', 0, 's1'))
      .when(wrong('b', { seconds: 5, sessionId: 's2' }))
      .then(counted('b', 5, 's2'))
      .when(wrong('c', { seconds: 9, sessionId: 's3' }))
      .then(counted('c', 9, 's3'), locked('s3', iso(9 + 86_400)));
  });

  it('are counted once each, even if the recovery job reports one again before or after the lock', () => {
    const three = given(screenedPerson, counted('a'), counted('b'));
    three.when(wrong('b')).then();
    three
      .when(wrong('c'))
      .decided.when(wrong('c', { seconds: 40 }))
      .then();
  });

  it('no longer count when they are older than the duration of a block, or after the lock that they caused', () => {
    const two = given(screenedPerson, counted('a', 0), counted('b', 10));
    expect(attemptsLeftTo(two.state, at(86_399), limit)).toBe(1);
    expect(attemptsLeftTo(two.state, at(86_400), limit)).toBe(2);
    two.when(wrong('c', { seconds: 86_400, sessionId: 's2' })).then(counted('c', 86_400, 's2'));
    expect(attemptsLeftTo(two.when(wrong('c', { seconds: 20 })).decided.state, at(20), limit)).toBe(3);
  });

  it("lock the person at once, until the vendor's time, when the vendor says so", () => {
    given(screenedPerson)
      .when(wrong('a', { lockedUntil: iso(600) }))
      .then(counted('a'), locked('s1', iso(600)));
  });

  it('never exceed the limit, because the vendor receives at most as many answers as attempts are left', () => {
    const one = given(screenedPerson, counted('a'))
      .when(admit('b', 0, 's1'))
      .then(admitted('b', 0, 's1'))
      .when(admit('c', 0, 's2'))
      .then(admitted('c', 0, 's2'));
    one.when(admit('d', 0, 's3')).then();
    // One of the accepted answers no longer counts: it was right, never reached the vendor, or was given up.
    one
      .when({ kind: 'clear-answer', sessionId: 's1', attemptId: 'b' })
      .then({ type: 'AnswerCleared', data: { sessionId: 's1', attemptId: 'b' } })
      .when(admit('d', 1, 's3'))
      .then(admitted('d', 1, 's3'));
    one.when(admit('d', 82, 's3')).then(admitted('d', 82, 's3'));
  });

  it('are not accepted while the person is locked, and are accepted again afterwards', () => {
    const person = given(screenedPerson, locked('s1', iso(600)));
    person.when(admit('a', 599)).then();
    person.when(admit('a', 600)).then(admitted('a', 600));
  });

  it('leave one more answer when the limit is lowered below the count, and a wrong one locks the person', () => {
    const many = given(screenedPerson, ...['a', 'b', 'c', 'd'].map((attemptId) => counted(attemptId)));
    many
      .when(admit('e'))
      .then(admitted('e'))
      .when(wrong('e'))
      .then(counted('e'), locked('s1', iso(86_400)));
  });

  it('are counted even if the answer was not accepted, because an earlier version may have accepted it', () => {
    given(screenedPerson).when(wrong('a')).then(counted('a'));
    given(screenedPerson).when({ kind: 'clear-answer', sessionId: 's1', attemptId: 'a' }).then();
  });
});

describe('the vault entry of a session', () => {
  it("has the session's id in its name", () => {
    expect(secretsEntry('id')).toBe('screening:id');
  });
});
