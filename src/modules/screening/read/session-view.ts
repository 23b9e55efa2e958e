// The session as the platform API tells it (docs/contract/platform.md#screening-session).
import { overallStatusOf, paymentStatusOf, type OverallStatus, type PaymentStatus } from '../domain/overall-status.js';
import type { KbaQuestion, Session } from '../domain/session.js';
import type { SessionSummary } from './screening-status.js';

export interface SessionView {
  readonly id: string;
  readonly status: Session['status'];
  /** Absent unless an answer is awaited. */
  readonly stepUp?: {
    readonly type: 'OTP' | 'KBA' | 'CHOICE';
    readonly otpEnabled: boolean;
    readonly kbaEnabled: boolean;
    readonly kbaQuestions?: readonly KbaQuestion[];
  };
  /** After a wrong answer, while another may follow. */
  readonly attemptsRemaining?: number;
  /** ISO 8601 UTC, of a blocked session; null: the block does not end by itself (docs/contract/platform.md#ends-of-a-session). */
  readonly blockedUntil?: string | null;
}

export interface StatusView extends SessionView {
  readonly verificationStatus: Session['status'];
  readonly paymentStatus: PaymentStatus;
  readonly overallStatus: OverallStatus;
}

/** `questions` are shown only while they are open. */
export function sessionView(
  id: string,
  session: SessionSummary,
  questions: readonly KbaQuestion[] | null,
): SessionView {
  if (!('stepUp' in session)) {
    return {
      id,
      status: session.status,
      ...(session.status === 'BLOCKED' ? { blockedUntil: session.blockedUntil } : {}),
    };
  }
  const { otp, kba, answeredWrong, attemptsRemaining } = session.stepUp;
  return {
    id,
    status: session.status,
    stepUp: {
      type: otp && kba ? 'CHOICE' : otp ? 'OTP' : 'KBA',
      otpEnabled: otp,
      kbaEnabled: kba,
      ...(kba && questions ? { kbaQuestions: questions } : {}),
    },
    ...(answeredWrong && session.status !== 'STEP_UP_REQUIRED' ? { attemptsRemaining } : {}),
  };
}

export function statusView(id: string, session: SessionSummary, questions: readonly KbaQuestion[] | null): StatusView {
  return {
    ...sessionView(id, session, questions),
    verificationStatus: session.status,
    paymentStatus: paymentStatusOf(session),
    overallStatus: overallStatusOf(session),
  };
}
