// Chooses the screen for the state of a screening. Pure; flow.ts calls it when the session may have changed.
import type { Step, UserType, View } from '../contract/callbacks.js';
import type { Session, SessionStatus } from './api/wire.js';

/** A step, or a screen between or after the steps. */
export type Place =
  | Step
  /** The vendor has not answered yet. */
  | 'waiting'
  /** Blocked, expired or failed. */
  | 'ended'
  /** An agent or an organization is verified, which completes the screening. */
  | 'verified'
  /** The consumer has finished. */
  | 'done';

export const STEPS: readonly Place[] = [
  'details',
  'choice',
  'otp',
  'kba',
  'payment',
  'report',
  'share',
  'income',
  'rights',
];

export function isStep(place: Place): place is Step {
  return STEPS.includes(place);
}

/** Null if this kind of user does not have this view. */
export function firstPlace(view: View, userType: UserType, session: Session | SessionStatus | null): Place | null {
  if (view === 'income') return 'income';
  if (view === 'report' || view === 'rights') return userType === 'CONSUMER' ? view : null;
  return session ? placeOf(session, userType, null) : 'details';
}

/** `shown`: the current screen. A chosen method stays while the API offers it, although the service does not know the choice yet. */
export function placeOf(session: Session | SessionStatus, userType: UserType, shown: Place | null): Place {
  switch (session.status) {
    case 'SUBMITTED':
      return 'waiting';
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      return stepUpOf(session, shown);
    case 'VERIFIED':
      if (userType !== 'CONSUMER') return 'verified';
      return 'overallStatus' in session && session.overallStatus === 'COMPLETED' ? 'report' : 'payment';
    case 'BLOCKED':
    case 'EXPIRED':
    case 'ERROR':
      return 'ended';
    default:
      return session.status satisfies never;
  }
}

function stepUpOf({ status, stepUp }: Session, shown: Place | null): Place {
  if (stepUp?.type === 'OTP') return 'otp';
  if (stepUp?.type === 'KBA') return 'kba';
  const offered = (place: Place | null): boolean =>
    (place === 'otp' && stepUp?.otpEnabled !== false) || (place === 'kba' && stepUp?.kbaEnabled !== false);
  if (status === 'KBA_PENDING') return 'kba';
  if (shown && offered(shown)) return shown;
  if (status === 'OTP_PENDING' && offered('otp')) return 'otp';
  if (!offered('kba')) return 'otp';
  return offered('otp') ? 'choice' : 'kba';
}
