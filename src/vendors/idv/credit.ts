// The credit bureau over HTTP, for workers. credit-wire.ts has the wire format.
import { tokenOf, type VendorSubject } from '../../kernel/vendor-subject.js';
import { CreditBureau, type ReportVerdict } from '../../ports/credit-bureau.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { VendorClient } from '../../vendor-kit/http/client.js';
import { readReport, reportRequest } from './credit-wire.js';
import { type IdvOptions, idvClient, unlessAboutTheCall } from './dialect.js';

const REPORTS = '/credit/v1/reports';
const MAX_REPORT_BYTES = 2 * 1_024 * 1_024;

/**
 * Repeats a pull once when its outcome is unknown, with the same key and within the same time limit. The vendor bills a key once and answers a
 * repeated key with the same report. Reads at most 2 MB.
 */
export class IdvCreditBureau extends CreditBureau {
  private readonly http: VendorClient;

  constructor(options: IdvOptions) {
    super();
    this.http = idvClient({ ...options, maxAnswerBytes: MAX_REPORT_BYTES });
  }

  override async pullReport(call: VendorCall, subject: VendorSubject): Promise<ReportVerdict> {
    const request = { method: 'POST', path: REPORTS, json: reportRequest(tokenOf(subject)) } as const;
    return this.http.within(call, (vendor) => vendor.ask<ReportVerdict>(request, unlessAboutTheCall(readReport)));
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.http.close();
  }
}
