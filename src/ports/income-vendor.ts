// The vendor that verifies income and employment. Only workers call the vendor (`src/external-calls`).
import type { VendorSubject } from '../kernel/vendor-subject.js';
import type { NeedsUser, NoVerdict, VendorCall } from './vendor-call.js';

/** `PAYROLL` asks the employer's payroll. `BANKING` reads bank transactions. */
export type IncomeRoute = 'PAYROLL' | 'BANKING';

export interface Employer {
  readonly name: string;
  readonly title: string | null;
  /** YYYY-MM-DD. */
  readonly startedOn: string | null;
  readonly endedOn: string | null;
}

export interface Paystub {
  /** YYYY-MM-DD. */
  readonly payDate: string;
  readonly grossCents: number;
  readonly netCents: number;
}

/** Highly personal: only in memory, encrypted, or in the vault. */
export interface IncomeReport {
  readonly employers: readonly Employer[];
  readonly income: {
    readonly annualGrossCents: number;
    readonly currency: string;
    readonly payFrequency: 'WEEKLY' | 'BIWEEKLY' | 'SEMIMONTHLY' | 'MONTHLY';
  };
  readonly paystubs: readonly Paystub[];
}

export type IncomeFailure = 'NO_MATCH' | 'VENDOR_ERROR';

export type IncomeStart =
  /** The vendor's id of the inquiry. Only the vault stores this id. */
  { readonly kind: 'started'; readonly inquiry: string } | NoVerdict;

export type IncomeOutcome =
  /** `lookAgainAfter`: the seconds after which the vendor may be asked again. Without the field, the pauses grow up to half a minute. */
  | { readonly kind: 'in-progress'; readonly lookAgainAfter?: number }
  | NeedsUser
  | { readonly kind: 'completed'; readonly report: IncomeReport }
  | { readonly kind: 'failed'; readonly reason: IncomeFailure }
  | NoVerdict;

/**
 * Verifies income by one route at a time. One time limit (`VENDOR_TIMEOUT`) covers the whole exchange. A failure is returned as a NoVerdict, never
 * thrown. Starting is idempotent by `attemptId` and may be repeated until the result is known. Nothing is logged.
 */
export abstract class IncomeVendor {
  /** `subject` is the person of the linked screening, in the form that the vendor's capability needs; null for an inquiry without a screening. */
  abstract start(call: VendorCall, route: IncomeRoute, subject: VendorSubject | null): Promise<IncomeStart>;
  /**
   * Changes nothing. While the vendor waits for the person, each answer is `needs-user`. After the person has acted, the answer may be another round
   * with another opening.
   */
  abstract outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome>;
}
