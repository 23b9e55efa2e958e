// The callbacks to the page that embeds the component. Payloads contain identifiers, statuses and scores, and no personal data.
// docs/how-to/embed-the-component.md describes them for integrators; the types are published with the host script.

/**
 * `screening`: from the details to the shared report. `report`: the report of an existing screening. `rights`: the readers and the shares of that
 * report, and the rights of the person.
 */
export type View = 'screening' | 'report' | 'income' | 'rights';

export type Step = 'details' | 'choice' | 'otp' | 'kba' | 'payment' | 'report' | 'share' | 'income' | 'rights';

export type UserType = 'CONSUMER' | 'AGENT' | 'PMC';

export type EndUserType = 'INDEPENDENT_OWNER' | 'REAL_ESTATE_AGENT' | 'PROPERTY_MANAGEMENT';

export type VerificationStatus =
  'SUBMITTED' | 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING' | 'VERIFIED' | 'BLOCKED' | 'EXPIRED' | 'ERROR';

export type IncomeRoute = 'PAYROLL' | 'BANKING';

/** Keyed by the name of the callback. */
export interface CallbackPayloads {
  /** The first step is ready for use. */
  onReady: { readonly view: View };
  /** The height that the component needs in CSS pixels; at least 200. */
  onResize: { readonly height: number };
  /** The person typed or chose something. `complete`: the data of the step can be sent. */
  onChange: { readonly step: Step; readonly complete: boolean };
  onStepStart: { readonly step: Step };
  onStepComplete: { readonly step: Step };
  onVerificationSuccess: { readonly sessionId: string; readonly status: VerificationStatus };
  /** `sessionId` is null if the page received no session. */
  onVerificationFailure: {
    readonly sessionId: string | null;
    readonly status: VerificationStatus;
    readonly reasonCode?: string;
  };
  onScreeningSuccess: { readonly sessionId: string; readonly overallStatus: string; readonly score?: number };
  /** `amount` is in cents, `currency` a lowercase ISO 4217 code. */
  onPaymentSuccess: {
    readonly sessionId: string;
    readonly transactionId: string;
    readonly amount: number;
    readonly currency: string;
  };
  onReportShared: { readonly sessionId: string; readonly reportId: string; readonly recipientAccountId: string };
  onReportRevoked: { readonly sessionId: string; readonly reportId: string; readonly recipientAccountId: string };
  onReportShareDeclined: { readonly sessionId: string };
  /** The credit bureau refuses the report. The person may ask again, without another payment. */
  onReportUnavailable: { readonly sessionId: string; readonly reasonCode: string };
  /** The person has finished and wants to return to the page. `sessionId` is null in a view without a screening. */
  onDone: { readonly sessionId: string | null };
  onIncomeReportComplete: { readonly incomeSessionId: string; readonly route: IncomeRoute };
  onIncomeReportFailure: {
    readonly incomeSessionId: string;
    readonly route: IncomeRoute;
    readonly reasonCode: string;
  };
  /** `recoverable`: the person can continue by trying again. New codes may be added: keep a default branch. */
  onError: { readonly code: ErrorCode; readonly message: string; readonly recoverable?: boolean };
  /** The component continues. `fields`: the names of fields, never their values. */
  onWarning: { readonly code: WarningCode; readonly message: string; readonly fields?: readonly string[] };
  /** Replaces the print dialog of the component. */
  handlePrintRequested: { readonly sessionId: string };
  /** Replaces the download of the component. */
  handleDownloadRequested: { readonly sessionId: string };
}

export type CallbackName = keyof CallbackPayloads;

export type WarningCode =
  | 'INVALID_PREFILL_FIELDS'
  | 'IGNORED_END_USER_TYPE'
  | 'INVALID_PRODUCT_ID'
  | 'INVALID_APPLICATION_FEE'
  | 'INVALID_END_USER_TYPE'
  | 'DELEGATION_UNSUPPORTED';

/** The error codes of the component itself. */
export type ComponentErrorCode =
  | 'PAYMENT_REQUIRED'
  | 'IFRAME_LOAD_FAILED'
  | 'IFRAME_TIMEOUT'
  | 'IFRAME_ERROR'
  | 'TOKEN_EXCHANGE_FAILED'
  | 'TOKEN_REFRESH_FAILED'
  | 'UNKNOWN_ERROR'
  | 'MISSING_KEY'
  | 'INVALID_KEY'
  | 'KEY_INACTIVE'
  | 'MISSING_ORIGIN'
  | 'ORIGIN_NOT_ALLOWED'
  | 'RATE_LIMITED'
  | 'BILLING_NOT_CONFIGURED'
  | 'INTERNAL_ERROR'
  | 'FINGERPRINT_SDK_UNAVAILABLE'
  | 'FINGERPRINT_SCRIPT_LOAD_FAILED'
  | 'FINGERPRINT_COLLECTION_FAILED'
  | 'AUTH_TOKEN_INVALID'
  | 'SCREENING_OTP_RESEND_FAILED'
  | 'SCREENING_KBA_QUESTIONS_MISSING'
  | 'SYSTEM_INTERNAL_ERROR'
  | 'SYSTEM_CONFIGURATION_ERROR'
  | 'COMPONENT_RENDER_FAILED';

/** A code of the component or of the API. Later versions may add codes. */
export type ErrorCode = ComponentErrorCode | (string & Record<never, never>);
