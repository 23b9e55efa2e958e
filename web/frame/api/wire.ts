// What the platform API answers, as far as the frame reads it (docs/contract/platform.md).
import type { EndUserType, IncomeRoute, UserType, VerificationStatus } from '../../contract/callbacks.js';

/** GET /screening/options */
export interface ScreeningOptions {
  readonly environment: 'live' | 'test';
  /** Kinds of users that the account may screen. */
  readonly userTypes: readonly UserType[];
  /** Products that the account may name; the default is its own. */
  readonly productIds: readonly number[];
  /** What a consumer pays: in the smallest unit of a currency, which is a lowercase ISO 4217 code. Null: nothing. */
  readonly price: {
    readonly amount: number;
    readonly currency: string;
    /** How the processor counts the currency; an older service does not say it. */
    readonly exponent?: number;
  } | null;
  /** Bounds of the application fee, in cents; `fixed`: what a page says does not count. */
  readonly applicationFee: { readonly fixed: number | null; readonly max: number | null };
  /** What the session grant of the token binds; null without one. */
  readonly grant: {
    readonly userType: UserType | null;
    readonly endUserType: EndUserType | null;
    /** The grant says an end user type that is none of these: it binds none. */
    readonly otherEndUserType: boolean;
    readonly applicationFee: number | null;
  } | null;
  /** Where a person asks the account for help; an older service does not say it. */
  readonly support?: string | null;
  readonly terms: { readonly version: string; readonly language: string; readonly paragraphs: readonly string[] };
  /** Seconds between two codes. */
  readonly otpResendInterval: number;
}

/** What the device check gives: fields of POST /screening/submit */
export interface Fingerprint {
  readonly jscPayload: string;
  readonly hdimPayload?: string;
}

export interface KbaQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

/** Of submit, otp, resend and kba. */
export interface Session {
  readonly id: string;
  readonly status: VerificationStatus;
  readonly stepUp?: {
    readonly type: 'OTP' | 'KBA' | 'CHOICE';
    readonly otpEnabled: boolean;
    readonly kbaEnabled: boolean;
    readonly kbaQuestions?: readonly KbaQuestion[];
  };
  readonly attemptsRemaining?: number;
  readonly blockedUntil?: string | null;
  /** Why it is BLOCKED. */
  readonly reasonCode?: string;
}

export type PaymentStatus =
  'NOT_REQUIRED' | 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED' | 'REFUNDED';

/** GET /screening/{id}/status */
export interface SessionStatus extends Session {
  readonly verificationStatus: VerificationStatus;
  readonly paymentStatus: PaymentStatus;
  /** COMPLETED, PAYMENT_PENDING, PAYMENT_FAILED, or the status of the verification. */
  readonly overallStatus: string;
  readonly userType: UserType;
  /** Of the payment that was begun last; absent before one. */
  readonly transactionId?: string;
  /** When the payment was given back; absent before, and once it is paid again. */
  readonly refundedAt?: string;
}

/** POST /payments/create-intent */
export interface Intent {
  readonly transaction_id: string;
  readonly client_secret: string;
  readonly amount: number;
  readonly currency: string;
}

/** POST /payments/{transactionId}/confirm */
export interface Payment extends Omit<Intent, 'client_secret'> {
  readonly status: Exclude<PaymentStatus, 'NOT_REQUIRED' | 'REFUNDED'>;
}

/** GET /reports/{id}, as far as it is not shown as a page. */
export interface Report {
  readonly id: string;
  readonly score: { readonly value: number } | null;
}

/** GET /reports/{id}/sharing */
export interface Sharing {
  /** EXPIRED: the recipient's time is over. As after REVOKED, it cannot be shared again. */
  readonly status: 'NOT_SHARED' | 'SHARED' | 'REVOKED' | 'EXPIRED';
  readonly reportId: string | null;
  /** Whom a consent that names nobody is for. */
  readonly recipientAccountId: string | null;
  readonly expiresAt: string | null;
  readonly sharedAt?: string;
  readonly revokedAt?: string;
}

/** POST /reports/{id}/consent-to-share */
export interface Shared {
  readonly reportId: string;
  readonly recipientAccountId: string;
  /** Until when the recipient may see the report. */
  readonly expiresAt: string;
}

/** POST /reports/{id}/revoke-sharing */
export interface Revoked {
  readonly reportId: string;
  readonly recipientAccountId: string;
  /** All from whom it was taken back. */
  readonly recipientAccountIds?: readonly string[];
}

/** POST /voie/sessions and GET /voie/sessions/{id}/status */
export interface IncomeSession {
  readonly income_session_id: string;
  readonly status: 'CREATED' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'EXPIRED';
  readonly route: IncomeRoute;
  readonly reason_code?: string;
}

/** The envelope of every refusal. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly recoverable: boolean;
  readonly details?: readonly { readonly field: string; readonly message: string; readonly code?: string }[];
  /** Of a submission whose session ended BLOCKED, and why it did. Of a report that the bureau refuses: why. */
  readonly sessionId?: string;
  readonly reasonCode?: string;
  /** What the envelope says beside `error`: the session that the submission opened, or that its session grant has already. */
  readonly opened?: string;
  /** Of USER_BLOCKED: when the person may submit again. */
  readonly blockedUntil?: string;
}
