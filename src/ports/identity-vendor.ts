// The upstream identity vendor. Asked by workers only (`src/external-calls`).
import type { Applicant, Device } from '../kernel/applicant.js';
import type { RefusedInput } from '../kernel/refused-input.js';
import type { Replied } from '../kernel/vendor-reply.js';
import type { NoVerdict, VendorCall } from './vendor-call.js';

export type { Applicant, Device, NoVerdict, RefusedInput, VendorCall };

/** A multiple-choice question. Answer ids are 1..n in the order presented. Personal data: keep in the vault only. */
export interface KbaQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

export type RefusalReason =
  'IDENTITY_NOT_FOUND' | 'FRAUD_REPORTED' | 'SANCTIONS_MATCH' | 'ALERT_LIST_MATCH' | 'DECEASED' | 'MINOR_CONSUMER';

/** The vendor's own session is over or already spent; a new registration is needed. */
export type SessionOver = { readonly kind: 'session-over' };
export type Refused = { readonly kind: 'refused'; readonly reason: RefusalReason };
/** Locked after repeated failures; `unblockAt` (ISO 8601 UTC) when the vendor names it. */
export type Locked = { readonly kind: 'locked'; readonly unblockAt: string | null };

/** `duplicateGuard`: the vendor asks, for this person, that the person not be screened again while a report is valid. Absent is no. */
export type RegistrationVerdict = Replied &
  (
    | { readonly kind: 'confirmed'; readonly vendorSession: string; readonly duplicateGuard?: true }
    /** `vendorSession` is a vendor token: vault only. At least one method is offered. */
    | {
        readonly kind: 'step-up';
        readonly vendorSession: string;
        readonly otp: boolean;
        readonly kba: readonly KbaQuestion[] | null;
        readonly duplicateGuard?: true;
      }
    | { readonly kind: 'input-refused'; readonly input: RefusedInput }
    /** The vendor's file on this person is older than it allows. */
    | { readonly kind: 'report-expired' }
    /** The vendor does not offer this to the account. */
    | { readonly kind: 'product-not-enabled' }
    | SessionOver
    | Refused
    | Locked
    | NoVerdict
  );

export type AnswerVerdict = Replied &
  /** `personToken`: by which the vendor knows the confirmed person from now on; absent: by its session. Vault only. */
  (
    | { readonly kind: 'confirmed'; readonly personToken?: string }
    /** `attemptsRemaining` by the vendor's own count, null when it names none. */
    | { readonly kind: 'wrong'; readonly attemptsRemaining: number | null }
    | SessionOver
    | Refused
    | Locked
    | NoVerdict
  );

export type ResendVerdict = Replied & ({ readonly kind: 'sent' } | SessionOver | Refused | Locked | NoVerdict);

/** What the vendor asks of somebody whom it knows already: `step-up` has the form of a registration's. */
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

/** `refused-otherwise`: with a number that means nothing to the service, or none. */
export type StandingVerdict = Replied &
  ({ readonly kind: 'standing'; readonly authenticated: boolean } | { readonly kind: 'refused-otherwise' } | NoVerdict);
export type ExpiryVerdict = Replied &
  ({ readonly kind: 'expired' } | { readonly kind: 'refused-otherwise' } | NoVerdict);

/** What the vendor knows of an earlier call. `not-executed`: it never executed a call with that key, and will not. */
export type PastOutcome =
  | { readonly kind: 'registration'; readonly verdict: RegistrationVerdict }
  | { readonly kind: 'answer'; readonly verdict: AnswerVerdict }
  | { readonly kind: 'resend'; readonly verdict: ResendVerdict }
  | { readonly kind: 'reauthentication'; readonly verdict: ReauthenticationVerdict }
  | { readonly kind: 'not-executed' }
  | NoVerdict;

/**
 * Verifies identities. Every call has one time limit (`VENDOR_TIMEOUT`) over queueing, connecting, headers and body,
 * and answers with a value: vendor trouble is a NoVerdict, never an exception. Every call carries `attemptId` as its
 * idempotency key and is sent at most once; what became of an attempt is asked with `outcomeOf`. Neither requests nor
 * answers are ever logged; only the operation, the kind of the verdict and the duration are counted.
 */
export abstract class IdentityVendor {
  abstract register(call: VendorCall, applicant: Applicant): Promise<RegistrationVerdict>;
  abstract verifyOtp(call: VendorCall, vendorSession: string, code: string): Promise<AnswerVerdict>;
  abstract resendOtp(call: VendorCall, vendorSession: string): Promise<ResendVerdict>;
  abstract verifyKba(
    call: VendorCall,
    vendorSession: string,
    answers: readonly { readonly questionId: number; readonly answerId: number }[],
  ): Promise<AnswerVerdict>;
  /**
   * Challenges a confirmed person anew, whether or not the old authentication still holds. Answers go to `verifyOtp` and `verifyKba`.
   * What is not known of the device is left out: where a server asks without a body, all of it.
   */
  abstract reauthenticate(
    call: VendorCall,
    personToken: string,
    device: Partial<Device>,
  ): Promise<ReauthenticationVerdict>;
  /** Whether the authentication of the person holds. Changes nothing. */
  abstract authenticationStatus(call: VendorCall, personToken: string): Promise<StandingVerdict>;
  /** Ends the authentication of the person at once. Idempotent. */
  abstract expireAuthentication(call: VendorCall, personToken: string): Promise<ExpiryVerdict>;
  /** Asks how an earlier attempt ended, without personal data. Safe to repeat. A NoVerdict is about the question, not about the attempt. */
  abstract outcomeOf(call: VendorCall): Promise<PastOutcome>;
}
