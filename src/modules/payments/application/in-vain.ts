// Decides whether a paid report can still come, before a refund is planned.
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

  /** Whether the payment counts for that session, and none of its other sessions can have a report. */
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

  /** The session has ended or is verified, and has no report and can get none. */
  async isInVain({ sessionId, status }: ScreeningFacts): Promise<boolean> {
    if (status === 'BLOCKED' || status === 'EXPIRED' || status === 'ERROR') return true;
    if (status !== 'VERIFIED' || (await this.reports.expiryOf(sessionId)) !== null) return false;
    return (await this.screenings.reportProspect(sessionId)) !== 'possible';
  }
}
