// Decides whether a report is still possible for a payment, before a refund is planned.
import { Injectable } from '@nestjs/common';
import { Reports } from '../../../published/reports.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { transactionIdOf, type Payment } from '../domain/payment.js';

@Injectable()
export class PaymentInVain {
  constructor(
    private readonly screenings: Screenings,
    private readonly reports: Reports,
  ) {}

  /** Whether the payment counts for that session, and all other sessions of the payment can have no report. */
  async butFor(sessionId: string, id: string, { sessionId: newest, others, reference }: Payment): Promise<boolean> {
    const counted = [newest, ...others];
    if (!counted.includes(sessionId)) return false;
    for (const other of counted) {
      const session = other === sessionId ? null : await this.screenings.find(other);
      const isTheirs = session?.paidBy === transactionIdOf(id, reference);
      if (session !== null && isTheirs && !(await this.isInVain(session))) return false;
    }
    return true;
  }

  /** The session has ended or is verified. Such a session has no report and can get none. */
  async isInVain({ sessionId, status }: ScreeningFacts): Promise<boolean> {
    if (status === 'BLOCKED' || status === 'EXPIRED' || status === 'ERROR') return true;
    if (status !== 'VERIFIED' || (await this.reports.expiryOf(sessionId)) !== null) return false;
    return (await this.screenings.reportProspect(sessionId)) !== 'possible';
  }
}
