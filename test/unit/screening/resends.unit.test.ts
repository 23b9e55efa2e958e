// Further SMS codes of a session (docs/contract/platform.md#resending-a-code).
import { describe, expect, it } from '@jest/globals';
import { MAX_RESENDS } from '../../../src/challenges/domain/challenge.js';
import { attemptOf, expiresAt } from '../../../src/modules/screening/domain/screening-session.js';
import type { SessionState } from '../../../src/modules/screening/domain/session.js';
import {
  answerOtp,
  type GivenSession,
  iso,
  kbaReceived,
  otpReceived,
  OVER,
  record,
  rejected,
  resend,
  resendRequested,
  resent,
  submitted,
  withChoice,
  withKba,
  withOtp,
} from './sessions.js';

const told = (attemptId: string, verdict: Parameters<typeof record<'record-verdict'>>[2], seconds = 0) =>
  record('record-verdict', attemptId, verdict, seconds);

describe('asking for another SMS code', () => {
  it('makes the session OTP_PENDING and is sent to the vendor', () => {
    const { state } = withOtp().when(resend('one', 30)).then(resendRequested('one', 30));
    expect(state).toMatchObject({ status: 'OTP_PENDING', attempt: { attemptId: 'one', operation: 'otp-resend' } });
  });

  it('starts the 30 seconds again when a code was sent, and uses up no attempt', () => {
    const { state } = withOtp()
      .and(resendRequested('one', 30))
      .when(told('one', { kind: 'sent' }, 31))
      .then(resent('one', 31));
    expect(state).toMatchObject({
      status: 'OTP_PENDING',
      attempt: null,
      stepUp: { resends: 1, smsSentAt: iso(31), attemptsRemaining: 3, answeredWrong: false },
    });
  });

  it('is refused within 30 seconds after the last SMS, with the remaining seconds', () => {
    withOtp().when(resend('one', 0)).thenRefused('screening.resend_too_early', { retryAfterSeconds: 30 });
    withOtp().when(resend('one', 0.001)).thenRefused('screening.resend_too_early', { retryAfterSeconds: 30 });
    withOtp().when(resend('one', 29.999)).thenRefused('screening.resend_too_early', { retryAfterSeconds: 1 });
    const again = withOtp().and(resendRequested('one', 40), resent('one', 41));
    again.when(resend('two', 70)).thenRefused('screening.resend_too_early', { retryAfterSeconds: 1 });
    again.when(resend('two', 71)).then(resendRequested('two', 71));
  });

  it('is not delayed by answers, because only the last SMS counts', () => {
    withOtp()
      .and(otpReceived('one', 25), rejected('Otp', 'one', 2, 26))
      .when(resend('two', 30))
      .then(resendRequested('two', 30));
  });

  it('works five times in a session, and is then refused with TOO_MANY_ATTEMPTS, even within the 30 seconds', () => {
    let session: GivenSession = withOtp();
    for (let time = 1; time <= 5; time++)
      session = session
        .when(resend(`r${time}`, time * 30))
        .then(resendRequested(`r${time}`, time * 30))
        .and(resent(`r${time}`, time * 30));
    expect(MAX_RESENDS).toBe(5);
    session.when(resend('r6', 1_000)).thenRefused('screening.too_many_resends');
    session.when(resend('r6', 151)).thenRefused('screening.too_many_resends');
    session.when(answerOtp('code')).then(otpReceived('code'));
  });

  it('is refused with USER_BLOCKED in a BLOCKED session, with the end of the block', () => {
    withOtp()
      .and(OVER.BLOCKED)
      .when(resend('one', 100))
      .thenRefused('screening.person_blocked', { blockedUntil: '2026-03-02T12:00:00.000Z' });
  });

  it('is refused with INVALID_OTP when codes are not offered, or no longer', () => {
    withKba().when(resend('one', 100)).thenRefused('screening.otp_unusable', { rule: 'Codes are not offered.' });
    withChoice()
      .and(kbaReceived('one'), rejected('Kba', 'one', 2))
      .when(resend('two', 100))
      .thenRefused('screening.otp_unusable', { rule: 'Codes are not offered.' });
  });

  it('is refused with ATTEMPT_IN_PROGRESS while the vendor is still registering the person', () => {
    submitted().when(resend('one', 100)).thenRefused('screening.attempt_in_progress');
  });
});

describe('a verdict on a resend', () => {
  const waiting = withOtp().and(resendRequested('one', 30));

  it('leaves the session as before when the vendor is unavailable or never received the request', () => {
    for (const [command, cause] of [
      [told('one', { kind: 'unavailable' }), 'VENDOR_UNAVAILABLE'],
      [{ kind: 'record-not-executed', attemptId: 'one' }, 'NOT_EXECUTED'],
    ] as const) {
      const { state } = waiting.when(command).then({ type: 'AttemptAbandoned', data: { attemptId: 'one', cause } });
      expect(state).toMatchObject({
        ...withOtp().state,
        attemptIds: ['registration', 'one'],
        abandoned: { attemptId: 'one' },
      });
    }
  });

  it('leaves the resend open at the vendor when the verdict does not arrive in time', () => {
    expect(waiting.when(told('one', { kind: 'timed-out' })).then().state).toEqual(waiting.state);
  });

  it('ends the session as a verdict on an answer does (session over, locked, refused, unintelligible)', () => {
    expect(waiting.when(told('one', { kind: 'session-over' })).decided.state.status).toBe('EXPIRED');
    expect(waiting.when(told('one', { kind: 'locked', unblockAt: null }, 31)).decided.state).toMatchObject({
      status: 'BLOCKED',
      reasonCode: 'TOO_MANY_ATTEMPTS',
      blockedUntil: iso(31 + 86_400),
    });
    expect(waiting.when(told('one', { kind: 'refused', reason: 'DECEASED' })).decided.state).toMatchObject({
      status: 'BLOCKED',
      reasonCode: 'DECEASED',
      blockedUntil: null,
    });
    expect(waiting.when(told('one', { kind: 'unintelligible' })).decided.state.status).toBe('ERROR');
  });

  it('counts once', () => {
    waiting
      .when(told('one', { kind: 'sent' }, 31))
      .decided.when(told('one', { kind: 'sent' }, 32))
      .then();
    waiting.when(record('record-verdict', 'one', { kind: 'confirmed' })).then();
  });
});

describe('the time at which the recovery job examines a session', () => {
  const dueAt = (state: SessionState) => [attemptOf(state)?.settleAfter ?? null, expiresAt(state)];

  it('is the time to settle its vendor call, or else the end of its step-up, or else never', () => {
    expect(dueAt(submitted().state)).toEqual([iso(22), null]);
    expect(dueAt(withOtp().state)).toEqual([null, iso(1_800)]);
    expect(dueAt(withOtp().and(otpReceived('one', 100)).state)).toEqual([iso(122), null]);
    const rejectedOnce = withOtp().and(otpReceived('one', 100), rejected('Otp', 'one', 2, 101));
    expect(dueAt(rejectedOnce.state)).toEqual([null, iso(1_901)]);
    for (const end of Object.values(OVER)) expect(dueAt(withOtp().and(end).state)).toEqual([null, null]);
  });
});
