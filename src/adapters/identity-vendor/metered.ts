import {
  type AnswerVerdict,
  type Applicant,
  IdentityVendor,
  type PastOutcome,
  type RegistrationVerdict,
  type ResendVerdict,
  type VendorCall,
} from '../../ports/identity-vendor.js';

export type VendorObserver = (operation: string, outcome: string, seconds: number) => void;

/** Counts and times what another adapter does, by operation and kind of verdict and nothing else. */
export class MeteredIdentityVendor extends IdentityVendor {
  constructor(
    private readonly vendor: IdentityVendor,
    private readonly observe: VendorObserver,
  ) {
    super();
  }

  override register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict> {
    return this.metered('register', this.vendor.register(call, applicant));
  }

  override verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict> {
    return this.metered('verify_otp', this.vendor.verifyOtp(call, vendorSession, code));
  }

  override resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict> {
    return this.metered('resend_otp', this.vendor.resendOtp(call, vendorSession));
  }

  override verifyKba(call: VendorCall, vendorSession: string, answers: Parameters<IdentityVendor['verifyKba']>[2]): Promise<AnswerVerdict> {
    return this.metered('verify_kba', this.vendor.verifyKba(call, vendorSession, answers));
  }

  override outcomeOf(call: VendorCall): Promise<PastOutcome> {
    return this.metered('outcome_of', this.vendor.outcomeOf(call));
  }

  private async metered<Verdict extends { readonly kind: string }>(operation: string, call: Promise<Verdict>): Promise<Verdict> {
    const startedAt = performance.now();
    const verdict = await call;
    this.observe(operation, verdict.kind, (performance.now() - startedAt) / 1_000);
    return verdict;
  }
}
