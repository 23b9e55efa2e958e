// The income vendor acme over HTTP, for workers. income-wire.ts has the wire format.
import type { VendorSubject } from '../../kernel/vendor-subject.js';
import { type IncomeOutcome, type IncomeRoute, type IncomeStart, IncomeVendor } from '../../ports/income-vendor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { VendorClient } from '../../vendor-kit/http/client.js';
import { checkRequest, outcomeReader, readStarted } from './income-wire.js';
import { referenceOf } from './notices.js';

const CHECKS = '/v1/income-checks';

/** acme starts one check for each key. It knows persons by their own data, or by what they say on its page. */
export class AcmeIncomeVendor extends IncomeVendor {
  constructor(private readonly client: VendorClient) {
    super();
  }

  override start(call: VendorCall, route: IncomeRoute, subject: VendorSubject | null): Promise<IncomeStart> {
    const request = {
      method: 'POST',
      path: CHECKS,
      json: checkRequest(route, subject, referenceOf(call)),
    } as const;
    return this.client.within(call, (acme) => acme.ask<IncomeStart>(request, readStarted));
  }

  override outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    const request = { method: 'GET', path: `${CHECKS}/${encodeURIComponent(inquiry)}` } as const;
    return this.client.within(call, (acme) => acme.ask<IncomeOutcome>(request, outcomeReader(inquiry)));
  }
}
