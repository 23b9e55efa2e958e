// The credit bureau acme over HTTP, for workers. credit-wire.ts has the wire format.
import type { VendorSubject } from '../../kernel/vendor-subject.js';
import { CreditBureau, type ReportVerdict } from '../../ports/credit-bureau.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { VendorClient } from '../../vendor-kit/http/client.js';
import { type Accepted, follow } from './accepted.js';
import { isAssembling, readOrdered, readReport, reportRequest } from './credit-wire.js';

/**
 * Orders a report, and looks until it is there, within one time limit. The vendor bills a key once, so a repeated order gets the same report. It knows
 * persons by their own data only.
 */
export class AcmeCreditBureau extends CreditBureau {
  constructor(private readonly client: VendorClient) {
    super();
  }

  override pullReport(call: VendorCall, subject: VendorSubject): Promise<ReportVerdict> {
    const { person } = subject;
    if (person.kind !== 'applicant') throw new Error('acme knows persons by their own data only');
    const request = { method: 'POST', path: '/v1/reports', json: reportRequest(person.applicant, subject) } as const;
    return this.client.within(call, async (acme) => {
      const ordered = await acme.ask<Accepted | ReportVerdict>(request, readOrdered);
      if (ordered.kind !== 'accepted') return ordered;
      const found = await follow(acme, ordered, readReport, isAssembling);
      return found.kind === 'settled' ? found.verdict : found;
    });
  }
}
