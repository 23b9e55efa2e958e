// Combines the statuses of verification and payment into one (docs/contract/platform.md#overall-status). Pure.
import type { PaymentProgress, Session } from './session.js';

export type PaymentStatus = 'NOT_REQUIRED' | PaymentProgress['status'];
export type OverallStatus = Session['status'] | 'COMPLETED' | 'PAYMENT_PENDING' | 'PAYMENT_FAILED';

export function paymentStatusOf(session: Pick<Session, 'paymentRequired' | 'payment'>): PaymentStatus {
  if (!session.paymentRequired) return 'NOT_REQUIRED';
  return session.payment?.status ?? 'PENDING';
}

export function overallStatusOf(
  session: Pick<Session, 'status' | 'userType' | 'paymentRequired' | 'payment'>,
): OverallStatus {
  if (session.status !== 'VERIFIED') return session.status;
  const payment = paymentStatusOf(session);
  if (session.userType !== 'CONSUMER' || payment === 'NOT_REQUIRED' || payment === 'SUCCEEDED') return 'COMPLETED';
  return payment === 'FAILED' ? 'PAYMENT_FAILED' : 'PAYMENT_PENDING';
}
