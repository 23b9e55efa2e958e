// Payment folded into verification (decisions 3.12). Pure.
import type { Session } from './session.js';

export type PaymentStatus = 'NOT_REQUIRED' | 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED';
export type OverallStatus = Session['status'] | 'COMPLETED' | 'PAYMENT_PENDING' | 'PAYMENT_FAILED';

export function paymentStatusOf(session: Session): PaymentStatus {
  return session.paymentRequired ? 'PENDING' : 'NOT_REQUIRED';
}

export function overallStatusOf(session: Session): OverallStatus {
  if (session.status !== 'VERIFIED') return session.status;
  const payment = paymentStatusOf(session);
  if (session.userType !== 'CONSUMER' || payment === 'NOT_REQUIRED' || payment === 'SUCCEEDED') return 'COMPLETED';
  return payment === 'FAILED' ? 'PAYMENT_FAILED' : 'PAYMENT_PENDING';
}
