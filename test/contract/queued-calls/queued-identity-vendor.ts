// A vendor whose calls must not be repeated, behind a queue: what the tests beside this file call.
import {
  IdentityVendor,
  type AnswerVerdict,
  type Applicant,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../../src/ports/identity-vendor.js';
import type { QueuedCalls } from '../../../src/adapters/queued-calls/caller.js';
import type { CallQueue } from '../../../src/adapters/queued-calls/queue.js';

/** What came of a call is asked with `outcomeOf`; the call itself is not made again. */
export const IDENTITY_VENDOR_QUEUE: CallQueue<IdentityVendor> = {
  name: 'identity-vendor',
  operations: {
    register: { repetition: 'never' },
    verifyOtp: { repetition: 'never' },
    resendOtp: { repetition: 'never' },
    verifyKba: { repetition: 'never' },
    outcomeOf: { repetition: 'question' },
  },
};

export class QueuedIdentityVendor extends IdentityVendor {
  constructor(private readonly calls: QueuedCalls<IdentityVendor>) {
    super();
  }

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.calls.make('register', call, applicant);
  }

  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.calls.make('verifyOtp', call, vendorSession, code);
  }

  override resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.calls.make('resendOtp', call, vendorSession);
  }

  override verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: Parameters<IdentityVendor['verifyKba']>[2],
  ): Promise<AnswerVerdict> {
    return this.calls.make('verifyKba', call, vendorSession, answers);
  }

  override outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.calls.make('outcomeOf', call);
  }
}
