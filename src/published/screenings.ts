import type { EndUserType } from '../kernel/end-user-type.js';
import type { Environment } from '../kernel/environment.js';
import type { ActionContext } from '../kernel/context.js';
import type { VendorChoice } from '../kernel/vendor-choice.js';
import type { UserType } from './accounts.js';

export type VerificationStatus =
  'SUBMITTED' | 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING' | 'VERIFIED' | 'BLOCKED' | 'EXPIRED' | 'ERROR';
export type PaymentStatus =
  'NOT_REQUIRED' | 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED' | 'REFUNDED';
export type OverallStatus = VerificationStatus | 'COMPLETED' | 'PAYMENT_PENDING' | 'PAYMENT_FAILED';

/** What other modules may know of a screening session. Times are ISO 8601 UTC. */
export interface ScreeningFacts {
  readonly sessionId: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly userType: UserType;
  /** Under which the vault keeps what belongs to the person. */
  readonly subjectId: string;
  readonly status: VerificationStatus;
  readonly paymentStatus: PaymentStatus;
  readonly overallStatus: OverallStatus;
  /** The transaction that has paid for it; null while none has, and after its refund. */
  readonly paidBy: string | null;
  /** Where its calls go, and those of its report and of the income sessions beside it. */
  readonly vendors: VendorChoice;
  /** Of a BLOCKED session; null otherwise. */
  readonly block: { readonly reasonCode: string; readonly until: string | null } | null;
  /** Since when the session is VERIFIED; null when it is not. */
  readonly verifiedAt: string | null;
  /** The vendor asks that the person not be screened again while this counts, in test too. */
  readonly duplicateGuard: boolean;
  /** To whom the grant said the report would be shared; null when none said so. */
  readonly intendedRecipientId: string | null;
  /** The session grant that it was submitted under, if any. */
  readonly grantId: string | null;
  /** The party of the direct API that it verifies, if any; see `PartyFacts.partyId`. */
  readonly partyId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The stored event that a session begins with, for event handlers of other modules: of a party's session it says whose. */
export const SCREENING_SUBMITTED = { category: 'screening', type: 'ScreeningSubmitted' } as const;
export interface ScreeningSubmitted {
  /** Absent for a session of the platform. */
  readonly partyId?: string;
}

/** The screening module as others see it. */
export abstract class Screenings {
  /** As stored now, for any account: ownership is the caller's to check. Null for malformed and unknown ids. */
  abstract find(sessionId: string): Promise<ScreeningFacts | null>;

  /**
   * How the session's vendor for it knows the person of a verified session; null when it is not verified, when the person was erased, and
   * when what is kept of it cannot be opened.
   */
  abstract reference(sessionId: string, capability: Referring): Promise<VendorReference | null>;

  /** For the report's page. Nothing of it is known of a session that does not exist. */
  abstract screenedFor(sessionId: string): Promise<ScreenedFor>;

  /** Of a verified session. */
  abstract reportProspect(sessionId: string): Promise<ReportProspect>;

  /**
   * Sessions of the same person before this one, newest first, that are paid for, had no report and can have none any more. Not those whose
   * payment counts for another session that had a report or may have one.
   */
  abstract paidInVain(sessionId: string): Promise<readonly PaidSession[]>;

  /**
   * Records in the session how far its payment is, and that it is completed where that follows. SUCCEEDED ends when that transaction is
   * given back or carried over, and only then; a later transaction of the session counts more than an earlier one, and of one transaction what it said last.
   * Safe to repeat.
   */
  abstract paymentProgressed(sessionId: string, payment: PaymentNews, context: ActionContext): Promise<void>;
}

/** How a person was verified: by a code, by questions, or without either. */
export type VerificationMethod = 'otp' | 'kba' | 'outright';

/** For whom and for which home a person was screened, and how the person was verified. */
export interface ScreenedFor {
  /** Null where neither the grant nor the page said it. */
  readonly endUserType: EndUserType | null;
  /** In one line; null where the page gave none, and after the person was erased. */
  readonly unitAddress: string | null;
  /** Null before the verification. */
  readonly verifiedBy: VerificationMethod | null;
}

/** Whom the identity vendor's token of a person serves: itself, to authenticate the person again, and the vendors that take its tokens. */
export type Referring = 'identity' | 'credit' | 'income';

/** Which vendor to ask about a person, and what it knows the person by. */
export interface VendorReference {
  readonly vendor: string;
  /** Never to be logged or stored elsewhere. Null: the vendor knows no person by the identity vendor's tokens. */
  readonly token: string | null;
}

/** `possible`: there is a report that still holds, or the bureau can be asked for one. The other two are for ever. */
export type ReportProspect = 'possible' | 'none' | 'person-erased';

export interface PaidSession {
  readonly sessionId: string;
  readonly transactionId: string;
}

/** The stored event that ends a verification with success. */
export const IDENTITY_VERIFIED = { category: 'screening', type: 'IdentityVerified' } as const;

/** The stored events after which a session may be paid for, and over or verified. */
export const SESSION_ENDS = {
  category: 'screening',
  types: [IDENTITY_VERIFIED.type, 'SessionBlocked', 'SessionExpired', 'SessionErrored', 'PaymentProgressed'],
} as const;

export interface PaymentNews {
  readonly transactionId: string;
  /** Counts the transactions of the session, from 0. */
  readonly ordinal: number;
  /** Counts the payment's own events. */
  readonly observation: number;
  /** `CARRIED_OVER`: it counts for a newer session of the person, and for this one no more. */
  readonly status: Exclude<PaymentStatus, 'NOT_REQUIRED'> | 'CARRIED_OVER';
}
