// The state of a session decides which screen is shown, for every status, view and kind of user.
import { describe, expect, it } from '@jest/globals';
import type { Session, SessionStatus } from '../../../web/frame/api/wire.js';
import { firstPlace, placeOf } from '../../../web/frame/place.js';

const session = (status: Session['status'], more: Partial<SessionStatus> = {}): Session => ({
  id: 's',
  status,
  ...more,
});
const stepUp = (type: 'OTP' | 'KBA' | 'CHOICE', otpEnabled = type !== 'KBA', kbaEnabled = type !== 'OTP') => ({
  stepUp: { type, otpEnabled, kbaEnabled },
});

describe('The first screen of a view', () => {
  it('shows the details when no session exists', () => {
    expect(firstPlace('screening', 'CONSUMER', null)).toBe('details');
    expect(firstPlace('screening', 'AGENT', null)).toBe('details');
  });

  it('shows the current step of a resumed session', () => {
    expect(firstPlace('screening', 'CONSUMER', session('KBA_PENDING', stepUp('KBA')))).toBe('kba');
  });

  it('shows the report to a consumer in every state of the session, and does not exist for agents and organizations', () => {
    expect(firstPlace('report', 'CONSUMER', session('VERIFIED'))).toBe('report');
    expect(firstPlace('report', 'AGENT', session('VERIFIED'))).toBeNull();
    expect(firstPlace('report', 'PMC', session('VERIFIED'))).toBeNull();
  });

  it('shows the income for the income view', () => {
    expect(firstPlace('income', 'CONSUMER', null)).toBe('income');
  });
});

describe('A session', () => {
  it.each([
    ['SUBMITTED', {}, 'waiting'],
    ['STEP_UP_REQUIRED', stepUp('OTP'), 'otp'],
    ['STEP_UP_REQUIRED', stepUp('KBA'), 'kba'],
    ['STEP_UP_REQUIRED', stepUp('CHOICE'), 'choice'],
    ['STEP_UP_REQUIRED', stepUp('CHOICE', true, false), 'otp'],
    ['STEP_UP_REQUIRED', stepUp('CHOICE', false, true), 'kba'],
    ['OTP_PENDING', stepUp('OTP'), 'otp'],
    ['OTP_PENDING', stepUp('CHOICE'), 'otp'],
    ['KBA_PENDING', stepUp('KBA'), 'kba'],
    ['KBA_PENDING', stepUp('CHOICE'), 'kba'],
    ['BLOCKED', {}, 'ended'],
    ['EXPIRED', {}, 'ended'],
    ['ERROR', {}, 'ended'],
  ] as const)('that is %s with %j is shown at %s', (status, more, place) => {
    expect(placeOf(session(status, more), 'CONSUMER', null)).toBe(place);
    expect(placeOf(session(status, more), 'AGENT', null)).toBe(place);
  });

  it('keeps the chosen method while the API offers both', () => {
    expect(placeOf(session('STEP_UP_REQUIRED', stepUp('CHOICE')), 'CONSUMER', 'otp')).toBe('otp');
    expect(placeOf(session('OTP_PENDING', stepUp('CHOICE')), 'CONSUMER', 'kba')).toBe('kba');
    expect(placeOf(session('KBA_PENDING', stepUp('CHOICE')), 'CONSUMER', 'otp')).toBe('kba');
  });

  it.each([
    ['COMPLETED', 'report'],
    ['PAYMENT_PENDING', 'payment'],
    ['PAYMENT_FAILED', 'payment'],
  ])('that is verified and %s leads a consumer to %s', (overallStatus, place) => {
    expect(placeOf(session('VERIFIED', { overallStatus }), 'CONSUMER', 'details')).toBe(place);
  });

  it.each(['AGENT', 'PMC'] as const)('that is verified leads to the end for %s', (userType) => {
    expect(placeOf(session('VERIFIED', { overallStatus: 'COMPLETED' }), userType, 'otp')).toBe('verified');
  });
});
