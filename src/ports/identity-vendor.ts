// The upstream identity vendor. Only workers call the vendor (`src/external-calls`).
import type { Applicant, Device } from '../kernel/applicant.js';
import type { RefusalReason, RefusedInput } from '../kernel/refused-input.js';
import type { Replied } from '../kernel/vendor-reply.js';
import type { NeedsUser, NoVerdict, VendorCall } from './vendor-call.js';

export type { Applicant, Device, NoVerdict, RefusalReason, RefusedInput, VendorCall };

/**
 * A multiple-choice question. Answer ids are 1..n in the order in which the person sees them. A question is personal data, which only the vault
 * stores.
 */
export interface KbaQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

/** The vendor's own session has ended or was already used, so a new registration is needed. */
export type SessionOver = { readonly kind: 'session-over' };
export type Refused = { readonly kind: 'refused'; readonly reason: RefusalReason };
/** Locked after repeated failures. `unblockAt` (ISO 8601 UTC) is present if the vendor gives the end of the lock. */
export type Locked = { readonly kind: 'locked'; readonly unblockAt: string | null };

/**
 * People at the vendor decide, within hours or days. `lookAgainAfter`: the seconds after which `outcomeOf` may be asked. `vendorSession` is a vendor
 * token, which only the vault stores. `outcomeOf` gets the token until the review ends.
 */
export interface UnderReview {
  readonly kind: 'under-review';
  readonly vendorSession: string;
  readonly lookAgainAfter: number;
}

/** `duplicateGuard`: the vendor demands that this person is not screened again while a report is valid. Absent means no. */
export type RegistrationVerdict = Replied &
  (
    | { readonly kind: 'confirmed'; readonly vendorSession: string; readonly duplicateGuard?: true }
    /** `vendorSession` is a vendor token, which only the vault stores. At least one method is offered. */
    | {
        readonly kind: 'step-up';
        readonly vendorSession: string;
        readonly otp: boolean;
        readonly kba: readonly KbaQuestion[] | null;
        readonly duplicateGuard?: true;
      }
    | UnderReview
    /** `vendorSession` as for a review. `outcomeOf` gets it until the person has acted, and may then answer with another round. */
    | (NeedsUser & { readonly vendorSession: string })
    | { readonly kind: 'input-refused'; readonly input: RefusedInput }
    /** The vendor's file on this person is older than it allows. */
    | { readonly kind: 'report-expired' }
    /** The vendor does not offer this product to the account. */
    | { readonly kind: 'product-not-enabled' }
    | SessionOver
    | Refused
    | Locked
    | NoVerdict
  );

export type AnswerVerdict = Replied &
  /**
   * `personToken` is the vendor's token for the confirmed person, which only the vault stores. If it is absent, the vendor knows the person by its
   * session.
   */
  (
    | { readonly kind: 'confirmed'; readonly personToken?: string }
    /** `attemptsRemaining` is the vendor's own count; null if the vendor gives no number. */
    | { readonly kind: 'wrong'; readonly attemptsRemaining: number | null }
    | SessionOver
    | Refused
    | Locked
    | NoVerdict
  );

export type ResendVerdict = Replied & ({ readonly kind: 'sent' } | SessionOver | Refused | Locked | NoVerdict);

/** The vendor's challenge for a person that it already knows. `step-up` has the same form as in a registration. */
export type ReauthenticationVerdict = Replied &
  (
    | { readonly kind: 'confirmed' }
    | {
        readonly kind: 'step-up';
        readonly vendorSession: string;
        readonly otp: boolean;
        readonly kba: readonly KbaQuestion[] | null;
      }
    | { readonly kind: 'refused-otherwise' }
    | SessionOver
    | Refused
    | Locked
    | NoVerdict
  );

/** `refused-otherwise`: refused without a number, or with an unknown one. */
export type StandingVerdict = Replied &
  ({ readonly kind: 'standing'; readonly authenticated: boolean } | { readonly kind: 'refused-otherwise' } | NoVerdict);
export type ExpiryVerdict = Replied &
  ({ readonly kind: 'expired' } | { readonly kind: 'refused-otherwise' } | NoVerdict);

/** The vendor's record of an earlier call. `not-executed`: the vendor never executed a call with that key, and will never do so. */
export type PastOutcome =
  | { readonly kind: 'registration'; readonly verdict: RegistrationVerdict }
  | { readonly kind: 'answer'; readonly verdict: AnswerVerdict }
  | { readonly kind: 'resend'; readonly verdict: ResendVerdict }
  | { readonly kind: 'reauthentication'; readonly verdict: ReauthenticationVerdict }
  | { readonly kind: 'not-executed' }
  | NoVerdict;

/** The answers of a vendor to an operation that it does not have. */
const NOT_OFFERED = { kind: 'unavailable' } as const;
const REFUSED = { kind: 'refused-otherwise' } as const;

/**
 * Verifies identities. Every call has one time limit (`VENDOR_TIMEOUT`) over queueing, connecting, headers and body. Every call returns a value: a
 * failure of the vendor is a NoVerdict, never thrown. Every call has `attemptId` as its idempotency key and is sent at most once. `outcomeOf` returns
 * the result of an attempt. Requests and answers are never logged. Only the operation, the kind of the verdict and the duration are counted.
 */
export abstract class IdentityVendor {
  abstract register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict>;

  // A vendor without one of the following operations does not override it. Nothing is executed then.
  async verifyOtp(_call: VendorCall, _vendorSession: string, _code: string): Promise<AnswerVerdict> {
    return NOT_OFFERED;
  }
  async resendOtp(_call: VendorCall, _vendorSession: string): Promise<ResendVerdict> {
    return NOT_OFFERED;
  }
  async verifyKba(
    _call: VendorCall,
    _vendorSession: string,
    _answers: readonly { readonly questionId: number; readonly answerId: number }[],
  ): Promise<AnswerVerdict> {
    return NOT_OFFERED;
  }
  /**
   * Challenges a confirmed person again, even if the old authentication is still valid. Answers are sent to `verifyOtp` and `verifyKba`. Unknown
   * facts about the device are omitted. A server that sends no body omits all of them.
   */
  async reauthenticate(
    _call: VendorCall,
    _personToken: string,
    _device: Partial<Device>,
  ): Promise<ReauthenticationVerdict> {
    return REFUSED;
  }
  /** Whether the authentication of the person is valid. Changes nothing. */
  async authenticationStatus(_call: VendorCall, _personToken: string): Promise<StandingVerdict> {
    return REFUSED;
  }
  /** Ends the authentication of the person at once. Idempotent. */
  async expireAuthentication(_call: VendorCall, _personToken: string): Promise<ExpiryVerdict> {
    return REFUSED;
  }
  /**
   * Asks for the result of an earlier attempt, without personal data. Safe to repeat. A NoVerdict concerns the query, not the attempt. `vendorSession`
   * is given only for a registration that is under review, or whose person must act at the vendor.
   */
  abstract outcomeOf(call: VendorCall, vendorSession?: string): Promise<PastOutcome>;
}
