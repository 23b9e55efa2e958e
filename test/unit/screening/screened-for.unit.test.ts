import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { screenedSession } from '../../../src/modules/screening/application/screened-for.js';
import type { SessionEvent } from '../../../src/modules/screening/domain/session.js';
import { QUESTIONS, iso, requested, type EventOf } from './sessions.js';

const SUBMITTED: EventOf<'ScreeningSubmitted'>['data'] = {
  subjectId: 'subject',
  personId: 'person',
  userType: 'CONSUMER',
  termsAcceptedAt: iso(0),
  paymentRequired: false,
};
const STEP_UP: SessionEvent = {
  type: 'StepUpRequired',
  data: {
    attemptId: 'registration',
    methods: ['OTP', 'KBA'],
    questions: QUESTIONS,
    attemptsAllowed: 3,
    expiresAt: iso(1_800),
    smsSentAt: iso(1),
    duplicateGuard: false,
  },
};
const VERIFIED: SessionEvent = {
  type: 'IdentityVerified',
  data: { attemptId: 'last', verifiedAt: iso(9), duplicateGuard: false },
};
const folded = (...events: SessionEvent[]) =>
  events.reduce(
    (state, event) =>
      screenedSession.evolve(state, { ...event, metadata: { occurredAt: iso(0) } } as RecordedEvent & SessionEvent),
    screenedSession.initial,
  );

describe('a screened session', () => {
  it('is verified outright when the person gave no answer', () => {
    expect(folded({ type: 'ScreeningSubmitted', data: SUBMITTED }, VERIFIED)).toMatchObject({ verifiedBy: 'outright' });
  });

  it('is verified by the kind of the last answer', () => {
    const otp: SessionEvent = { type: 'OtpAnswerReceived', data: requested('otp') };
    const kba: SessionEvent = { type: 'KbaAnswersReceived', data: requested('kba') };
    expect(folded(STEP_UP, otp, VERIFIED).verifiedBy).toBe('otp');
    expect(folded(STEP_UP, otp, kba, VERIFIED).verifiedBy).toBe('kba');
    expect(folded(STEP_UP, otp).verifiedBy).toBeNull();
  });

  it('has the state that its events give, with the time of the verification', () => {
    const { session } = folded({ type: 'ScreeningSubmitted', data: SUBMITTED }, VERIFIED);
    expect(session).toMatchObject({ status: 'VERIFIED', verifiedAt: iso(9) });
  });

  it('has the kind of user and the address of the unit when the submission gave them', () => {
    const said = { ...SUBMITTED, endUserType: 'REAL_ESTATE_AGENT', unitAddressKept: true } as const;
    expect(folded({ type: 'ScreeningSubmitted', data: said })).toMatchObject({
      endUserType: 'REAL_ESTATE_AGENT',
      addressSubject: 'subject',
    });
    expect(folded({ type: 'ScreeningSubmitted', data: SUBMITTED })).toMatchObject({
      endUserType: null,
      addressSubject: null,
    });
  });
});
