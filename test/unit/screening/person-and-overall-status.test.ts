import { describe, expect, it } from '@jest/globals';
import { overallStatusOf, paymentStatusOf } from '../../../src/modules/screening/domain/overall-status.js';
import { screenedPerson, subjectOf, type PersonEvent } from '../../../src/modules/screening/domain/screened-person.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { secretsEntry, type Session, type SessionEvent } from '../../../src/modules/screening/domain/session.js';
import { isId } from '../../../src/kernel/ids.js';
import { given } from '../../support/decider.js';
import { otpReceived, OVER, REGISTERING, stepUp, SUBMITTED } from './sessions.js';

describe('the overall status (decisions 3.12)', () => {
  const session = (userType: 'CONSUMER' | 'AGENT' | 'PMC', paymentRequired: boolean, ...events: SessionEvent[]): Session => {
    const first = { ...SUBMITTED, data: { ...SUBMITTED.data, userType, paymentRequired } } as SessionEvent;
    const { state } = given(screeningSession, first, REGISTERING, ...events);
    if (state.status === 'NONE') throw new Error('The session does not exist');
    return state;
  };

  it('is the raw status of a session that is not VERIFIED, whoever pays', () => {
    const histories: SessionEvent[][] = [[], [stepUp(['OTP'])], [stepUp(['OTP']), otpReceived('one')], [OVER.BLOCKED], [OVER.EXPIRED], [OVER.ERROR]];
    for (const history of histories) {
      for (const paymentRequired of [true, false]) {
        const one = session('CONSUMER', paymentRequired, ...history);
        expect(overallStatusOf(one)).toBe(one.status);
      }
    }
  });

  it('is PAYMENT_PENDING for a verified consumer who has yet to pay, and COMPLETED for one who need not', () => {
    const owing = session('CONSUMER', true, OVER.VERIFIED);
    expect([paymentStatusOf(owing), overallStatusOf(owing)]).toEqual(['PENDING', 'PAYMENT_PENDING']);
    const free = session('CONSUMER', false, OVER.VERIFIED);
    expect([paymentStatusOf(free), overallStatusOf(free)]).toEqual(['NOT_REQUIRED', 'COMPLETED']);
  });

  it('is COMPLETED for a verified agent or organization, whatever is said of payment', () => {
    for (const userType of ['AGENT', 'PMC'] as const) {
      for (const paymentRequired of [true, false]) expect(overallStatusOf(session(userType, paymentRequired, OVER.VERIFIED))).toBe('COMPLETED');
    }
  });
});

describe('a screened person', () => {
  const open = (sessionId: string) => ({ kind: 'open', personId: 'person', sessionId }) as const;
  const opened = (sessionId: string, subjectId: string): PersonEvent => ({ type: 'ScreeningOpened', data: { sessionId, subjectId } });
  const first = subjectOf('person', screenedPerson.initial);

  it('has the sessions that were opened, newest last, all under one vault subject', () => {
    const { state } = given(screenedPerson).when(open('s1')).then(opened('s1', first)).when(open('s2')).then(opened('s2', first));
    expect(state).toEqual({ sessionIds: ['s1', 's2'], lockedUntil: null, erasedSubjects: [] });
    expect(isId(first)).toBe(true);
    expect(first).not.toContain('person');
  });

  it('opens a session once', () => {
    given(screenedPerson, opened('s1', first)).when(open('s1')).then();
  });

  it('is locked until the latest end of a lock', () => {
    const locked = given(screenedPerson, opened('s1', first)).when({ kind: 'record-lock', sessionId: 's1', lockedUntil: '2026-03-02T00:00:00.000Z' }).then({ type: 'PersonLocked', data: { sessionId: 's1', lockedUntil: '2026-03-02T00:00:00.000Z' } });
    locked.when({ kind: 'record-lock', sessionId: 's1', lockedUntil: '2026-03-01T00:00:00.000Z' }).then();
    locked.when({ kind: 'record-lock', sessionId: 's2', lockedUntil: '2026-03-03T00:00:00.000Z' }).then({ type: 'PersonLocked', data: { sessionId: 's2', lockedUntil: '2026-03-03T00:00:00.000Z' } });
  });

  it('has another vault subject after an erasure, for good', () => {
    const erased = given(screenedPerson, opened('s1', first)).when({ kind: 'record-erasure', subjectId: first }).then({ type: 'SubjectKeyDestroyed', data: { subjectId: first } });
    const second = subjectOf('person', erased.state);
    expect(second).not.toBe(first);
    erased.when(open('s2')).then(opened('s2', second)).when(open('s3')).then(opened('s3', second));
    erased.when({ kind: 'record-erasure', subjectId: first }).then();
  });

  it('is another subject than another person', () => {
    expect(subjectOf('another', screenedPerson.initial)).not.toBe(first);
  });

  it('remembers the newest twenty sessions', () => {
    const all = Array.from({ length: 25 }, (_, index) => opened(`s${index}`, first));
    expect(given(screenedPerson, ...all).state.sessionIds).toEqual(Array.from({ length: 20 }, (_, index) => `s${index + 5}`));
  });

  it('is read past an event of a later version of the service', () => {
    const later = { type: 'SomethingNew', data: {} } as unknown as PersonEvent;
    expect(given(screenedPerson, opened('s1', first), later).state.sessionIds).toEqual(['s1']);
  });
});

describe('the vault entry of a session', () => {
  it('is named after the session', () => {
    expect(secretsEntry('id')).toBe('screening:id');
  });
});
