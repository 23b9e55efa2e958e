// The vendor of bank transactions over HTTP, for workers. income-wire.ts has the wire format.
import { tokenOf, type VendorSubject } from '../../kernel/vendor-subject.js';
import { type IncomeOutcome, type IncomeRoute, type IncomeStart, IncomeVendor } from '../../ports/income-vendor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { bearer } from '../../vendor-kit/http/auth.js';
import { VendorClient } from '../../vendor-kit/http/client.js';
import type { Secret } from '../../kernel/vendor-settings.js';
import type { TransportOptions } from '../../vendor-kit/http/transport.js';
import { ERRORS, inquiryRequest, outcomeReader, readStart } from './income-wire.js';

const INQUIRIES = '/v1/inquiries';
const MAX_REPORT_BYTES = 2 * 1_024 * 1_024;

/**
 * Repeats a call once when its outcome is unknown, within the same time limit, because the vendor starts one inquiry for each key. Reads at most 2
 * MB.
 */
export class CashflowIncomeVendor extends IncomeVendor {
  private readonly http: VendorClient;

  constructor({ credential, ...options }: TransportOptions & { readonly credential: Secret }) {
    super();
    const auth = bearer(credential);
    this.http = new VendorClient({ ...options, auth, dialect: ERRORS, maxAnswerBytes: MAX_REPORT_BYTES });
  }

  override async start(call: VendorCall, _route: IncomeRoute, subject: VendorSubject | null): Promise<IncomeStart> {
    const request = {
      method: 'POST',
      path: INQUIRIES,
      json: inquiryRequest(subject && tokenOf(subject)),
    } as const;
    return this.http.within(call, (vendor) => vendor.ask<IncomeStart>(request, readStart));
  }

  override async outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    const request = { method: 'GET', path: `${INQUIRIES}/${encodeURIComponent(inquiry)}` } as const;
    return this.http.within(call, (vendor) => vendor.ask<IncomeOutcome>(request, outcomeReader(inquiry)));
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.http.close();
  }
}
