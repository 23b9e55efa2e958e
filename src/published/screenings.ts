import type { EndUserType } from '../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../kernel/permissible-purpose.js';
import type { Environment } from '../kernel/environment.js';
import type { ActionContext } from '../kernel/context.js';
import type { VendorChoice } from '../kernel/vendor-choice.js';
import type { VendorSubject } from '../kernel/vendor-subject.js';
import type { UserType } from './accounts.js';

export const VERIFICATION_STATUSES = [
  'SUBMITTED',
  'STEP_UP_REQUIRED',
  'OTP_PENDING',
  'KBA_PENDING',
  'VERIFIED',
  'BLOCKED',
  'EXPIRED',
  'ERROR',
] as const;
export const PAYMENT_STATUSES = [
  'NOT_REQUIRED',
  'PENDING',
  'PROCESSING',
  'REQUIRES_ACTION',
  'SUCCEEDED',
  'FAILED',
  'REFUNDED',
] as const;
export const OVERALL_STATUSES = [...VERIFICATION_STATUSES, 'COMPLETED', 'PAYMENT_PENDING', 'PAYMENT_FAILED'] as const;
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number];
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export type OverallStatus = (typeof OVERALL_STATUSES)[number];

/** The facts about a screening session that other modules may use. Times are ISO 8601 UTC. */
export interface ScreeningFacts {
  readonly sessionId: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly userType: UserType;
  /** The kind of end user that the screening is for; null if neither the grant nor the page gave it. */
  readonly endUserType: EndUserType | null;
  /** The purpose for which the report may be read; null if neither the grant nor the page named one. */
  readonly purpose: PermissiblePurpose | null;
  /** The vault stores the person's data under this subject. */
  readonly subjectId: string;
  readonly status: VerificationStatus;
  readonly paymentStatus: PaymentStatus;
  readonly overallStatus: OverallStatus;
  /** The transaction that has paid for the session; null before a payment, and after the payment's refund. */
  readonly paidBy: string | null;
  /** The vendors for the session's own calls, for its report, and for its income sessions. */
  readonly vendors: VendorChoice;
  /** Null unless the session is BLOCKED. */
  readonly block: { readonly reasonCode: string; readonly until: string | null } | null;
  /** The time when the session became VERIFIED; null if it is not verified. */
  readonly verifiedAt: string | null;
  /** The vendor demands that the person is not screened again while this session counts, not even in the test environment. */
  readonly duplicateGuard: boolean;
  /** The latest end of a review by people at the identity vendor; null unless the session is under review. */
  readonly reviewUntil: string | null;
  /** The account that the grant names as the report's recipient; null if the grant names none. */
  readonly intendedRecipientId: string | null;
  /** The session grant of its submission; null if none exists. */
  readonly grantId: string | null;
  /** The party of the direct API that the session verifies (see `PartyFacts.partyId`); null for a session of the platform. */
  readonly partyId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The first stored event of a session, for event handlers of other modules. In a session of a party, the event names the party. */
export const SCREENING_SUBMITTED = { category: 'screening', type: 'ScreeningSubmitted' } as const;
export interface ScreeningSubmitted {
  /** Absent for a session of the platform. */
  readonly partyId?: string;
}

/** The screening module, for other modules. */
export abstract class Screenings {
  /** Returns the present state for any account. The caller must check the owner of the session. Null for malformed and unknown ids. */
  abstract find(sessionId: string): Promise<ScreeningFacts | null>;

  /**
   * The session's vendor for the capability, and the person as the vendor knows them. Null if the session is not verified, when the person was erased,
   * and when the vault entry cannot be decrypted.
   */
  abstract reference(sessionId: string, capability: Referring): Promise<VendorReference | null>;

  /** The token by which the identity vendor knows the person. Null in the same cases. Must not be logged or stored elsewhere. */
  abstract identityToken(sessionId: string): Promise<string | null>;

  /** The facts for the report's page, from one read of the session. Null for a session that does not exist. */
  abstract screenedFor(sessionId: string): Promise<ScreenedFor | null>;

  /** The session must be verified. */
  abstract reportProspect(sessionId: string): Promise<ReportProspect>;

  /**
   * Earlier sessions of the same person, newest first, that are paid for, had no report and can no longer have one. A session is omitted when its
   * payment counts for another session that had a report or may still have one.
   */
  abstract paidInVain(sessionId: string): Promise<readonly PaidSession[]>;

  /**
   * Records the state of a payment in the session. Completes the session if only the payment was missing. A transaction stays SUCCEEDED until it is
   * refunded or moves to another session. The latest transaction of the session counts, with its newest observed state. Safe to repeat.
   */
  abstract paymentProgressed(sessionId: string, payment: PaymentUpdate, context: ActionContext): Promise<void>;
}

/** How a person was verified: by a code, by questions, or without either. */
export type VerificationMethod = 'otp' | 'kba' | 'outright';

/** A screening with its request, and how the person was verified. */
export interface ScreenedFor extends ScreeningFacts {
  /** The address in one line; null if the page gave none, and if the person was erased. */
  readonly unitAddress: string | null;
  /** Null before the verification. */
  readonly verifiedBy: VerificationMethod | null;
}

/** The choices of vendors that are asked about a verified person. */
export type Referring = 'credit' | 'income' | 'banking';

export interface VendorReference {
  readonly vendor: string;
  /** Must not be logged or stored. Null if the vendor does not know persons in any form that the session has. */
  readonly subject: VendorSubject | null;
}

/** `possible`: the session has a valid report, or the bureau can be asked for one. The two other values are final. */
export type ReportProspect = 'possible' | 'none' | 'person-erased';

export interface PaidSession {
  readonly sessionId: string;
  readonly transactionId: string;
}

/** The stored event that ends a verification with success. */
export const IDENTITY_VERIFIED = { category: 'screening', type: 'IdentityVerified' } as const;

/** After one of these stored events, a session may be paid for and verified, or paid for and ended. */
export const SESSION_ENDS = {
  category: 'screening',
  types: [IDENTITY_VERIFIED.type, 'SessionBlocked', 'SessionExpired', 'SessionErrored', 'PaymentProgressed'],
} as const;

export interface PaymentUpdate {
  readonly transactionId: string;
  /** The number of the transaction among those of the session, from 0. */
  readonly ordinal: number;
  /** The number of events in the payment's stream at the time of the observation. */
  readonly observation: number;
  /** `CARRIED_OVER`: the payment counts for a newer session of the person, and no longer for this session. */
  readonly status: Exclude<PaymentStatus, 'NOT_REQUIRED'> | 'CARRIED_OVER';
}
