// The income vendor over HTTP, for workers. income-wire.ts has the wire format.
import { tokenOf, type VendorSubject } from '../../kernel/vendor-subject.js';
import { type IncomeOutcome, type IncomeRoute, type IncomeStart, IncomeVendor } from '../../ports/income-vendor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { VendorHttp, type VendorHttpOptions } from '../../vendor-kit/exchange.js';
import { repeatable } from '../../vendor-kit/repeatable.js';
import { inquiryRequest, readOutcome, readStart } from './income-wire.js';

const API = '/income/v1';
const MAX_REPORT_BYTES = 2 * 1_024 * 1_024;

/**
 * Repeats a call once when its outcome is unknown, within the same time limit, because the vendor starts one inquiry for each key. Reads at most 2
 * MB.
 */
export class VoieIncomeVendor extends IncomeVendor {
  private readonly http: VendorHttp;

  constructor(options: VendorHttpOptions) {
    super();
    this.http = new VendorHttp(options, API, MAX_REPORT_BYTES);
  }

  override async start(call: VendorCall, route: IncomeRoute, subject: VendorSubject | null): Promise<IncomeStart> {
    const body = inquiryRequest(route, subject && tokenOf(subject));
    return repeatable<IncomeStart>(
      this.http,
      call,
      (limit) => this.http.post(call, '/inquiries', body, limit),
      readStart,
    );
  }

  override async outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    const path = `/inquiries/${encodeURIComponent(inquiry)}`;
    return repeatable<IncomeOutcome>(
      this.http,
      call,
      (limit) => this.http.get(call, path, limit),
      (answer) => readOutcome(answer, inquiry),
    );
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.http.close();
  }
}
