// What integrators of the embedded component were promised: its callbacks, error codes and warnings.

export const CALLBACK_WEBHOOKS: Readonly<Record<string, readonly string[]>> = {
  onPaymentSuccess: ['payment.succeeded'],
  onScreeningSuccess: ['screening.completed'],
  onReportShared: ['report.shared'],
  onReportRevoked: ['report.revoked'],
  onVerificationSuccess: ['screening.completed', 'screening.step_up_required'],
  onVerificationFailure: ['screening.blocked', 'screening.step_up_required'],
  onIncomeReportComplete: ['income_report.completed'],
  onIncomeReportFailure: ['income_report.failed'],
  onReady: [],
  onError: [],
  onWarning: [],
  onResize: [],
  onChange: [],
  onStepStart: [],
  onStepComplete: [],
  handlePrintRequested: [],
  handleDownloadRequested: [],
  onReportShareDeclined: [],
};

/** `recoverable` null: nothing was said; `server`: only where the reply was a 5xx. */
export const EMBEDDED_CODES: Readonly<Record<string, boolean | null | 'server'>> = {
  PAYMENT_REQUIRED: false,
  IFRAME_LOAD_FAILED: false,
  IFRAME_TIMEOUT: false,
  IFRAME_ERROR: false,
  TOKEN_EXCHANGE_FAILED: 'server',
  TOKEN_REFRESH_FAILED: 'server',
  UNKNOWN_ERROR: 'server',
  MISSING_KEY: null,
  INVALID_KEY: null,
  KEY_INACTIVE: null,
  MISSING_ORIGIN: null,
  ORIGIN_NOT_ALLOWED: null,
  RATE_LIMITED: null,
  BILLING_NOT_CONFIGURED: null,
  INTERNAL_ERROR: null,
  FINGERPRINT_SDK_UNAVAILABLE: false,
  FINGERPRINT_SCRIPT_LOAD_FAILED: false,
  FINGERPRINT_COLLECTION_FAILED: false,
  AUTH_TOKEN_INVALID: false,
  SCREENING_OTP_RESEND_FAILED: true,
  SCREENING_KBA_QUESTIONS_MISSING: true,
  SYSTEM_INTERNAL_ERROR: false,
  SYSTEM_CONFIGURATION_ERROR: false,
  COMPONENT_RENDER_FAILED: true,
};

export const WARNING_CODES = [
  'INVALID_PREFILL_FIELDS',
  'IGNORED_END_USER_TYPE',
  'INVALID_PRODUCT_ID',
  'INVALID_APPLICATION_FEE',
  'INVALID_END_USER_TYPE',
  'DELEGATION_UNSUPPORTED',
] as const;
