// Copied from the specification's and the decisions' tables, by hand: what the catalogue is compared with.

export interface SpecifiedCode {
  readonly code: string;
  readonly status: number;
  /** Undefined where the source does not say. */
  readonly recoverable?: boolean;
}

/** Specification, "Screening session codes". */
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

/** Decisions 2.1 (statuses) of the token codes in the specification's "Embedded component codes". */
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

/** Decisions 1.2, 1.4 and 3.6. */
export const GENERIC_CODES: readonly SpecifiedCode[] = [
  { code: 'VALIDATION_ERROR', status: 400 },
  { code: 'AUTH_UNAUTHORIZED', status: 401 },
  { code: 'AUTH_FORBIDDEN', status: 403 },
  { code: 'NOT_FOUND', status: 404 },
  { code: 'NOT_ACCEPTABLE', status: 406 },
  { code: 'PAYLOAD_TOO_LARGE', status: 413 },
  { code: 'NETWORK_RATE_LIMITED', status: 429 },
  { code: 'SYSTEM_INTERNAL_ERROR', status: 500 },
  { code: 'SERVICE_UNAVAILABLE', status: 503, recoverable: true },
  { code: 'UPSTREAM_TIMEOUT', status: 504, recoverable: true },
  { code: 'IDEMPOTENCY_KEY_REUSED', status: 409 },
  { code: 'ATTEMPT_IN_PROGRESS', status: 409, recoverable: true },
];
