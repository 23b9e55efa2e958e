// The parts of the platform API's replies that the frame reads (docs/contract/platform.md).
import type { EndUserType, IncomeRoute, UserType, VerificationStatus } from '../../contract/callbacks.js';

/** GET /screening/options */
export interface ScreeningOptions {
  readonly environment: 'live' | 'test';
  /** The kinds of users that the account may screen. */
  readonly userTypes: readonly UserType[];
  /** Products that the account's pages may name. The default is the account's own. */
  readonly productIds: readonly number[];
  /** The consumer's price, in the smallest unit of the currency, which is a lowercase ISO 4217 code. Null: the consumer pays nothing. */
  readonly price: {
    readonly amount: number;
    readonly currency: string;
    /** The processor's exponent of the currency. An older service does not send the exponent. */
    readonly exponent?: number;
  } | null;
  /** The limits of the application fee, in cents. With `fixed`, the page's fee is ignored. */
  readonly applicationFee: { readonly fixed: number | null; readonly max: number | null };
  /** The values that the token's session grant sets; null without a grant. */
  readonly grant: {
    readonly userType: UserType | null;
    readonly endUserType: EndUserType | null;
    /** The grant has an end user type outside the list, so the page may name its own. */
    readonly otherEndUserType: boolean;
    readonly applicationFee: number | null;
  } | null;
  /** The account's contact for people who need help. An older service does not send the contact. */
  readonly support?: string | null;
  /** The appearance of the account. An older service does not send the appearance. */
  readonly brand?: {
    readonly displayName: string;
    /** A data: URL. */
    readonly logo: string | null;
    readonly privacyUrl: string | null;
  };
  readonly terms: { readonly version: string; readonly language: string; readonly paragraphs: readonly string[] };
  /** The seconds between two codes. */
  readonly otpResendInterval: number;
}

/** The result of the device check: fields of POST /screening/submit. */
export interface Fingerprint {
  readonly jscPayload: string;
  readonly hdimPayload?: string;
}

export interface KbaQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

/** The reply of submit, otp, resend and kba. */
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
  /** The reason of the status BLOCKED. */
  readonly reasonCode?: string;
  /** Present while people at the vendor check the person. */
  readonly reviewUntil?: string;
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
  /** The transaction of the latest payment; absent without a payment. */
  readonly transactionId?: string;
  /** The time of the refund; absent before a refund, and after another payment. */
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

/** The fields of GET /reports/{id} that the frame reads in addition to the page. */
export interface Report {
  readonly id: string;
  readonly score: { readonly value: number } | null;
  readonly report: { readonly consumer: { readonly name: string } };
  /** ISO 8601 UTC. */
  readonly generatedAt: string;
}

/** GET /reports/{id}/sharing */
export interface Sharing {
  /** EXPIRED: the recipient's time has ended. A share that is EXPIRED or REVOKED cannot be renewed. */
  readonly status: 'NOT_SHARED' | 'SHARED' | 'REVOKED' | 'EXPIRED';
  readonly reportId: string | null;
  /** The default recipient of a consent that names none. */
  readonly recipientAccountId: string | null;
  /** An older service does not send the recipient's name. */
  readonly recipientName?: string | null;
  readonly expiresAt: string | null;
  readonly sharedAt?: string;
  readonly revokedAt?: string;
}

/** POST /reports/{id}/consent-to-share */
export interface Shared {
  readonly reportId: string;
  readonly recipientAccountId: string;
  /** The end of the recipient's time. */
  readonly expiresAt: string;
}

/** POST /reports/{id}/revoke-sharing */
export interface Revoked {
  readonly reportId: string;
  readonly recipientAccountId: string;
  /** All recipients whose access was revoked. */
  readonly recipientAccountIds?: readonly string[];
}

/** GET /screening/{id}/disclosures */
export interface Disclosures {
  readonly sessionId: string;
  /** The newest first. */
  readonly reads: readonly {
    readonly at: string;
    readonly accountName: string | null;
    readonly reader: 'PAGE' | 'SERVER';
    readonly purpose: 'TENANT_SCREENING' | 'LEASE_RENEWAL';
    readonly format: 'json' | 'html' | 'score';
  }[];
  readonly shares: readonly DisclosedShare[];
  readonly sources: readonly {
    readonly kind: 'IDENTITY' | 'CREDIT_REPORT';
    readonly vendor: string;
    readonly at: string;
  }[];
  readonly rights: {
    readonly title: string;
    readonly lead: string;
    readonly list: readonly string[];
    readonly dispute: string;
    readonly officialSummaryUrl: string;
  };
}

export interface DisclosedShare {
  readonly recipientName: string | null;
  readonly status: 'SHARED' | 'REVOKED' | 'EXPIRED';
  readonly sharedAt: string;
  readonly expiresAt: string;
  readonly revokedAt?: string;
  /** The request that stops the share. Null if the share has ended, or if the person cannot stop it here. */
  readonly stop: { readonly path: string; readonly body: { readonly recipientAccountId: string } } | null;
}

/** POST /voie/sessions and GET /voie/sessions/{id}/status */
export interface IncomeSession {
  readonly income_session_id: string;
  readonly status: 'CREATED' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'EXPIRED';
  readonly route: IncomeRoute;
  readonly reason_code?: string;
  /** Present while the person must act at the vendor: on its page, or in its SDK, which the page around the component runs. */
  readonly user_action?: {
    readonly until: string;
    readonly url?: string;
    readonly sdk?: string;
    readonly token?: string;
  };
}

/** The envelope of every error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly recoverable: boolean;
  readonly details?: readonly { readonly field: string; readonly message: string; readonly code?: string }[];
  /** For a submission whose session ended BLOCKED, with the reason; and for a report that the bureau refuses. */
  readonly sessionId?: string;
  readonly reasonCode?: string;
  /** The session next to `error`: the session that the submission opened, or the session that its grant already has. */
  readonly opened?: string;
  /** For USER_BLOCKED: the time when the person may submit again. */
  readonly blockedUntil?: string;
}
