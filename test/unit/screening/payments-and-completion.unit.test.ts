import { describe, expect, it } from '@jest/globals';
import { overallStatusOf, paymentStatusOf } from '../../../src/modules/screening/domain/overall-status.js';
import { screeningSession, type SessionCommand } from '../../../src/modules/screening/domain/screening-session.js';
import type {
  PaymentUpdate,
  PaymentProgress,
  Session,
  SessionEvent,
  SessionState,
} from '../../../src/modules/screening/domain/session.js';
import { given } from '../../support/decider.js';
import { answerOtp, OVER, record, REGISTERING, stepUp, SUBMIT, SUBMITTED } from './sessions.js';

const progress = (status: PaymentProgress['status'], observation: number, ordinal = 0): PaymentProgress => ({
  transactionId: `txn_${ordinal}`,
  ordinal,
  observation,
  status,
});
const paid = (payment: PaymentUpdate): SessionCommand => ({ kind: 'record-payment', payment });
const progressed = (payment: PaymentUpdate): SessionEvent => ({ type: 'PaymentProgressed', data: payment });
const completed = (transactionId: string | null): SessionEvent => ({
  type: 'ScreeningCompleted',
  data: { userType: 'CONSUMER', transactionId },
});
const owing = given(screeningSession, SUBMITTED, REGISTERING, OVER.VERIFIED);

function statuses(state: SessionState): readonly string[] {
  return [paymentStatusOf(state as Session), overallStatusOf(state as Session)];
}

describe('the payment of a session', () => {
  it('completes a verified session once, when the payment succeeds', () => {
    const now = owing
      .when(paid(progress('SUCCEEDED', 3)))
      .then(progressed(progress('SUCCEEDED', 3)), completed('txn_0'));
    expect(statuses(now.state)).toEqual(['SUCCEEDED', 'COMPLETED']);
    now.when(paid(progress('SUCCEEDED', 3))).then();
    now.when(paid(progress('SUCCEEDED', 9, 1))).then();
  });

  it('completes a session that is verified later, together with the verification', () => {
    const early = given(screeningSession, SUBMITTED, REGISTERING, stepUp(['OTP']))
      .when(paid(progress('SUCCEEDED', 3)))
      .then(progressed(progress('SUCCEEDED', 3)));
    const verified = early.when(answerOtp('o')).decided.when(record('record-verdict', 'o', { kind: 'confirmed' }));
    expect(verified.events.map(({ type }) => type)).toEqual(['IdentityVerified', 'ScreeningCompleted']);
    expect(statuses(verified.decided.state)).toEqual(['SUCCEEDED', 'COMPLETED']);
  });

  it.each([
    ['FAILED', 'PAYMENT_FAILED'],
    ['PENDING', 'PAYMENT_PENDING'],
    ['PROCESSING', 'PAYMENT_PENDING'],
    ['REQUIRES_ACTION', 'PAYMENT_PENDING'],
  ] as const)('with status %s makes the session %s', (status, overall) => {
    expect(statuses(owing.when(paid(progress(status, 2))).then(progressed(progress(status, 2))).state)).toEqual([
      status,
      overall,
    ]);
  });

  it('never leaves the status SUCCEEDED', () => {
    const done = owing.and(progressed(progress('SUCCEEDED', 3)), completed('txn_0'));
    done.when(paid(progress('FAILED', 9))).then();
    done.when(paid(progress('PENDING', 1, 1))).then();
  });

  it('is owed again after its refund, and a second payment does not complete the session again', () => {
    const done = owing.and(progressed(progress('SUCCEEDED', 3)), completed('txn_0'));
    const refunded = done.when(paid(progress('REFUNDED', 5))).then(progressed(progress('REFUNDED', 5)));
    expect(statuses(refunded.state)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    const again = refunded
      .when(paid(progress('PENDING', 1, 1)))
      .then(progressed(progress('PENDING', 1, 1)))
      .when(paid(progress('SUCCEEDED', 3, 1)))
      .then(progressed(progress('SUCCEEDED', 3, 1)));
    expect(statuses(again.state)).toEqual(['SUCCEEDED', 'COMPLETED']);
  });

  it('no longer counts when it is refunded, even if an earlier status arrives late', () => {
    const refunded = owing.and(
      progressed(progress('SUCCEEDED', 3)),
      completed('txn_0'),
      progressed(progress('REFUNDED', 5)),
    );
    for (const known of [refunded, refunded.and(progressed(progress('PENDING', 1, 1)))])
      for (const late of [progress('SUCCEEDED', 3), progress('SUCCEEDED', 9), progress('REFUNDED', 5)])
        known.when(paid(late)).then();
  });

  it.each([0, 3])(
    'can be made again after the refund of a payment that another session had opened (ordinal %i)',
    (ordinal) => {
      const carried = (status: PaymentProgress['status'], observation: number): PaymentProgress => ({
        ...progress(status, observation, ordinal),
        transactionId: 'txn_carried',
      });
      const refunded = owing.and(
        progressed(carried('SUCCEEDED', 4)),
        completed('txn_carried'),
        progressed(carried('REFUNDED', 6)),
      );
      refunded.when(paid(progress('SUCCEEDED', 3))).then(progressed(progress('SUCCEEDED', 3)));
      const again = refunded
        .when(paid(progress('PENDING', 1)))
        .then(progressed(progress('PENDING', 1)))
        .when(paid(progress('FAILED', 2)))
        .then(progressed(progress('FAILED', 2)));
      for (const late of [carried('SUCCEEDED', 4), carried('REFUNDED', 6)]) again.when(paid(late)).then();
      const done = again.when(paid(progress('SUCCEEDED', 3))).then(progressed(progress('SUCCEEDED', 3)));
      expect(statuses(done.state)).toEqual(['SUCCEEDED', 'COMPLETED']);
    },
  );

  it('stays refunded when an earlier, failed transaction is reported late', () => {
    owing
      .and(progressed(progress('SUCCEEDED', 3, 1)), completed('txn_1'), progressed(progress('REFUNDED', 5, 1)))
      .when(paid(progress('FAILED', 4)))
      .then();
  });

  it('is owed again without a transaction when it moves to a newer session, even if a status arrives late', () => {
    const gone: PaymentUpdate = { ...progress('SUCCEEDED', 6), status: 'CARRIED_OVER' };
    const done = owing.and(progressed(progress('SUCCEEDED', 3)), completed('txn_0'));
    const left = done.when(paid(gone)).then(progressed(gone));
    expect(statuses(left.state)).toEqual(['PENDING', 'PAYMENT_PENDING']);
    expect(left.state).not.toHaveProperty('payment');
    for (const late of [gone, progress('SUCCEEDED', 3), progress('SUCCEEDED', 9), progress('REFUNDED', 9)])
      left.when(paid(late)).then();
    left.when(paid(progress('PENDING', 1, 1))).then(progressed(progress('PENDING', 1, 1)));
  });

  it('stays when another transaction moves to a newer session', () => {
    owing
      .and(progressed(progress('SUCCEEDED', 3, 1)), completed('txn_1'))
      .when(paid({ ...progress('SUCCEEDED', 6), status: 'CARRIED_OVER' }))
      .then();
  });

  it('stays when another transaction is refunded', () => {
    owing
      .and(progressed(progress('SUCCEEDED', 3, 1)), completed('txn_1'))
      .when(paid(progress('REFUNDED', 5)))
      .then();
  });

  it('may succeed after a failure', () => {
    owing
      .and(progressed(progress('FAILED', 2)))
      .when(paid(progress('SUCCEEDED', 3)))
      .then(progressed(progress('SUCCEEDED', 3)), completed('txn_0'));
  });

  it('has the status that was observed last, whatever the order of arrival', () => {
    const known = owing.and(progressed(progress('PROCESSING', 4)));
    known.when(paid(progress('REQUIRES_ACTION', 3))).then();
    known.when(paid(progress('PROCESSING', 5))).then();
    known.when(paid(progress('FAILED', 5))).then(progressed(progress('FAILED', 5)));
  });

  it('has the status of the latest transaction, unless an earlier one succeeds', () => {
    const second = owing.and(progressed(progress('FAILED', 4)), progressed(progress('PENDING', 1, 1)));
    second.when(paid(progress('FAILED', 9, 0))).then();
    second.when(paid(progress('SUCCEEDED', 9, 0))).then(progressed(progress('SUCCEEDED', 9, 0)), completed('txn_0'));
  });

  it('is still recorded in a session that ended differently, and completes nothing', () => {
    for (const over of [OVER.BLOCKED, OVER.EXPIRED, OVER.ERROR]) {
      const now = given(screeningSession, SUBMITTED, REGISTERING, over)
        .when(paid(progress('SUCCEEDED', 3)))
        .then(progressed(progress('SUCCEEDED', 3)));
      expect(overallStatusOf(now.state as Session)).toBe((now.state as Session).status);
    }
  });

  it('changes nothing in a session that does not exist', () => {
    given(screeningSession)
      .when(paid(progress('SUCCEEDED', 3)))
      .then();
  });
});

describe('a session without a payment', () => {
  it('is completed together with the verification', () => {
    const submitted = given(screeningSession).when({ ...SUBMIT, paymentRequired: false } as SessionCommand).decided;
    const decision = submitted.when(
      record('record-registration', 'registration', { kind: 'confirmed', duplicateGuard: false }),
    );
    expect(decision.events.at(-1)).toEqual(completed(null));
  });
});
