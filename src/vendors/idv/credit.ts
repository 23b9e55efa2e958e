// The credit bureau over HTTP, for workers. credit-wire.ts has the wire format.
import { tokenOf, type VendorSubject } from '../../kernel/vendor-subject.js';
import { CreditBureau, type ReportVerdict } from '../../ports/credit-bureau.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { VendorHttp, type VendorHttpOptions } from '../../vendor-kit/exchange.js';
import { repeatable } from '../../vendor-kit/repeatable.js';
import { readReport, reportRequest } from './credit-wire.js';

const API = '/credit/v1';
const MAX_REPORT_BYTES = 2 * 1_024 * 1_024;

/**
 * Repeats a pull once when its outcome is unknown, with the same key and within the same time limit. The vendor bills a key once and answers a
 * repeated key with the same report. Reads at most 2 MB.
 */
export class IdvCreditBureau extends CreditBureau {
  private readonly http: VendorHttp;

  constructor(options: VendorHttpOptions) {
    super();
    this.http = new VendorHttp(options, API, MAX_REPORT_BYTES);
  }

  override async pullReport(call: VendorCall, subject: VendorSubject): Promise<ReportVerdict> {
    const body = reportRequest(tokenOf(subject));
    return repeatable<ReportVerdict>(
      this.http,
      call,
      (limit) => this.http.post(call, '/reports', body, limit),
      readReport,
    );
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.http.close();
  }
}
