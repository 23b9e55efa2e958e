import { DomainError } from '../../../kernel/domain-error.js';
import type { ScreeningFacts, Screenings } from '../../../published/screenings.js';

/** A verified person is not asked to pay for a report that is impossible. When a payment is in progress, the answer says so instead. */
export async function refuseInVain(
  { sessionId, status, paymentStatus }: ScreeningFacts,
  screenings: Screenings,
): Promise<void> {
  if (status !== 'VERIFIED' || paymentStatus === 'PROCESSING') return;
  const prospect = await screenings.reportProspect(sessionId);
  if (prospect === 'person-erased') throw new DomainError('payment.session_not_payable');
  if (prospect === 'none') throw new DomainError('payment.report_not_available');
}
