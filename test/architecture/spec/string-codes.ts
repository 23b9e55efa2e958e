// The codes that integrators were promised on each surface, written by hand. The test compares the catalogue with these
// codes.

export interface SpecifiedCode {
  readonly code: string;
  readonly status: number;
  /** Undefined if the source does not specify the status. */
  readonly recoverable?: boolean;
}

/** Codes of screening sessions: docs/contract/platform.md#submission, #codes-and-answers, #ends-of-a-session. */
export const SCREENING_CODES: readonly SpecifiedCode[] = [
  { code: 'VALIDATION_ERROR', status: 400, recoverable: true },
  { code: 'VALIDATION_INVALID_FIELD_FORMAT', status: 400, recoverable: true },
  { code: 'INVALID_ADDRESS', status: 400, recoverable: true },
  { code: 'INVALID_SSN', status: 400, recoverable: true },
  { code: 'INVALID_DOB', status: 400, recoverable: true },
  { code: 'INVALID_OTP', status: 400, recoverable: true },
  { code: 'INVALID_KBA', status: 400, recoverable: true },
  { code: 'USER_BLOCKED', status: 423, recoverable: false },
  { code: 'TOO_MANY_ATTEMPTS', status: 429, recoverable: false },
  { code: 'ALREADY_REGISTERED', status: 409, recoverable: false },
  { code: 'SESSION_EXPIRED', status: 410, recoverable: false },
  { code: 'REPORT_EXPIRED', status: 410, recoverable: true },
  { code: 'IDENTITY_NOT_FOUND', status: 404, recoverable: false },
  { code: 'MINOR_CONSUMER', status: 422, recoverable: false },
  { code: 'PRODUCT_NOT_ENABLED', status: 422, recoverable: false },
  { code: 'REPORT_MISSING_FIELD', status: 400, recoverable: true },
  { code: 'ACCOUNT_NOT_PROVISIONED', status: 409, recoverable: false },
];

/** Codes of the token exchange: docs/contract/platform.md#token-exchange. */
export const TOKEN_CODES: readonly SpecifiedCode[] = [
  { code: 'MISSING_KEY', status: 401 },
  { code: 'INVALID_KEY', status: 401 },
  { code: 'RATE_LIMITED', status: 429 },
  { code: 'KEY_INACTIVE', status: 403 },
  { code: 'MISSING_ORIGIN', status: 400 },
  { code: 'ORIGIN_NOT_ALLOWED', status: 403 },
  { code: 'BILLING_NOT_CONFIGURED', status: 403 },
  { code: 'INTERNAL_ERROR', status: 500 },
];

/** Codes of every surface: docs/contract/general.md#errors, #idempotency-keys. */
export const GENERIC_CODES: readonly SpecifiedCode[] = [
  { code: 'VALIDATION_ERROR', status: 400 },
  { code: 'AUTH_UNAUTHORIZED', status: 401 },
  { code: 'AUTH_FORBIDDEN', status: 403 },
  { code: 'NOT_FOUND', status: 404 },
  { code: 'METHOD_NOT_ALLOWED', status: 405 },
  { code: 'NOT_ACCEPTABLE', status: 406 },
  { code: 'PAYLOAD_TOO_LARGE', status: 413 },
  { code: 'NETWORK_RATE_LIMITED', status: 429 },
  { code: 'SYSTEM_INTERNAL_ERROR', status: 500 },
  { code: 'SERVICE_UNAVAILABLE', status: 503, recoverable: true },
  { code: 'UPSTREAM_TIMEOUT', status: 504, recoverable: true },
  { code: 'IDEMPOTENCY_KEY_REUSED', status: 409 },
  { code: 'ATTEMPT_IN_PROGRESS', status: 409, recoverable: true },
];

/** Codes of reports and their sharing: docs/contract/platform.md#checks-before-a-report, #sharing. */
export const REPORT_CODES: readonly SpecifiedCode[] = [
  { code: 'AUTH_UNAUTHORIZED', status: 401 },
  { code: 'AUTH_FORBIDDEN', status: 403 },
  { code: 'NETWORK_RATE_LIMITED', status: 429 },
  { code: 'SCREENING_SESSION_NOT_COMPLETED', status: 400 },
  { code: 'SCREENING_NOT_FOUND', status: 404 },
  { code: 'SCREENING_REPORT_EXPIRED', status: 410 },
  { code: 'SCREENING_IDENTITY_NOT_FOUND', status: 422 },
  { code: 'SCREENING_USER_BLOCKED', status: 403 },
  { code: 'SCREENING_TOO_MANY_ATTEMPTS', status: 429 },
  { code: 'PAYMENT_REQUIRED', status: 402, recoverable: false },
  { code: 'REPORT_ACCESS_DENIED', status: 403 },
  { code: 'REPORT_SHARING_NOT_FOUND', status: 403 },
  { code: 'REPORT_SHARING_REVOKED', status: 403 },
  { code: 'REPORT_SHARING_ALREADY_REVOKED', status: 409 },
  { code: 'REPORT_SHARING_EXPIRED', status: 403 },
  { code: 'ACCOUNT_NOT_LIVE', status: 409 },
];

/** Codes of payments and income sessions: docs/contract/platform.md#payments, #income-sessions. */
export const PAYMENT_AND_INCOME_CODES: readonly SpecifiedCode[] = [
  { code: 'PAYMENT_NOT_FOUND', status: 404 },
  { code: 'PAYMENT_ALREADY_COMPLETED', status: 409 },
  { code: 'REPORT_NOT_AVAILABLE', status: 409 },
  { code: 'ENDPOINT_RETIRED', status: 410 },
  { code: 'INCOME_REPORT_NOT_READY', status: 400 },
];

/** Codes of webhook management: docs/contract/webhooks.md#endpoint. */
export const WEBHOOK_CODES: readonly SpecifiedCode[] = [
  { code: 'WEBHOOK_ENDPOINT_EXISTS', status: 409 },
  { code: 'WEBHOOK_ENDPOINT_NOT_FOUND', status: 404 },
  { code: 'WEBHOOK_URL_INVALID', status: 400 },
  { code: 'WEBHOOK_ENDPOINT_DISABLED', status: 409 },
  { code: 'WEBHOOK_REDELIVERY_TOO_SOON', status: 429 },
];

/** Codes that were added for cases that have no promised code. */
export const ADDED_CODES: readonly SpecifiedCode[] = [
  { code: 'PAYMENT_NOT_REQUIRED', status: 409 },
  { code: 'PAYMENT_NOT_COMPLETED', status: 409, recoverable: false },
  { code: 'REPORT_IN_PROGRESS', status: 409, recoverable: true },
  { code: 'REPORT_ALREADY_RELEASED', status: 409, recoverable: false },
  { code: 'REPORT_FILE_FROZEN', status: 422 },
  { code: 'PURPOSE_NOT_CERTIFIED', status: 409, recoverable: false },
  { code: 'REQUEST_TIMEOUT', status: 408, recoverable: true },
  { code: 'URI_TOO_LONG', status: 414 },
  { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 },
  { code: 'EXPECTATION_FAILED', status: 417 },
  { code: 'REQUEST_HEADER_FIELDS_TOO_LARGE', status: 431 },
];
