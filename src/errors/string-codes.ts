// How the string-code doors (/auth, /screening, /payments, /reports, /voie, /v1, /tsp) say each condition.
// Codes and statuses: specification, "Screening session codes", "Embedded component codes", and decisions 1.4, 2.1, 3.
import type { Condition } from '../kernel/conditions.js';

export interface StringFace {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** Whether the person can get further by changing or repeating the request in the same flow. */
  readonly recoverable: boolean;
}

export const STRING_CODES = {
  'request.invalid': { code: 'VALIDATION_ERROR', status: 400, message: 'The request is not valid.', recoverable: true },
  'request.unauthenticated': { code: 'AUTH_UNAUTHORIZED', status: 401, message: 'Authentication is required.', recoverable: false },
  'request.forbidden': { code: 'AUTH_FORBIDDEN', status: 403, message: 'You do not have permission to do this.', recoverable: false },
  'request.not_found': { code: 'NOT_FOUND', status: 404, message: 'Not found.', recoverable: false },
  'request.not_acceptable': { code: 'NOT_ACCEPTABLE', status: 406, message: 'None of the accepted media types can be served.', recoverable: false },
  'request.too_large': { code: 'PAYLOAD_TOO_LARGE', status: 413, message: 'The request body is too large.', recoverable: false },
  'request.rate_limited': { code: 'NETWORK_RATE_LIMITED', status: 429, message: 'Too many requests. Try again later.', recoverable: true },
  'request.plain_http': { code: 'AUTH_FORBIDDEN', status: 403, message: 'HTTPS is required.', recoverable: false },
  'request.idempotency_key_reused': {
    code: 'IDEMPOTENCY_KEY_REUSED', status: 409, message: 'This idempotency key was used with a different request.', recoverable: false,
  },
  'service.failure': { code: 'SYSTEM_INTERNAL_ERROR', status: 500, message: 'Something went wrong on our side.', recoverable: false },
  'service.unavailable': { code: 'SERVICE_UNAVAILABLE', status: 503, message: 'The service is temporarily unavailable. Try again shortly.', recoverable: true },
  'service.upstream_timeout': { code: 'UPSTREAM_TIMEOUT', status: 504, message: 'Verification took too long. Try again.', recoverable: true },

  'token.key_missing': { code: 'MISSING_KEY', status: 401, message: 'The X-Publishable-Key header is missing.', recoverable: false },
  'token.key_invalid': { code: 'INVALID_KEY', status: 401, message: 'The publishable key is malformed or unknown.', recoverable: false },
  'token.rate_limited': { code: 'RATE_LIMITED', status: 429, message: 'Too many token exchanges for this key. Try again later.', recoverable: true },
  'token.key_inactive': { code: 'KEY_INACTIVE', status: 403, message: 'The publishable key has been deactivated.', recoverable: false },
  'token.origin_missing': { code: 'MISSING_ORIGIN', status: 400, message: 'The Origin header is missing.', recoverable: false },
  'token.origin_not_allowed': { code: 'ORIGIN_NOT_ALLOWED', status: 403, message: 'This origin is not allowed for the key.', recoverable: false },
  'token.billing_not_configured': {
    code: 'BILLING_NOT_CONFIGURED', status: 403, message: 'Billing is not configured for this account.', recoverable: false,
  },
  'token.failure': { code: 'INTERNAL_ERROR', status: 500, message: 'The token exchange failed unexpectedly.', recoverable: false },

  'screening.field_format': {
    code: 'VALIDATION_INVALID_FIELD_FORMAT', status: 400, message: 'A field does not have the required format.', recoverable: true,
  },
  'screening.ssn_missing': { code: 'REPORT_MISSING_FIELD', status: 400, message: 'A required field is missing.', recoverable: true },
  'screening.ssn_malformed': { code: 'INVALID_SSN', status: 400, message: 'The SSN must have nine digits.', recoverable: true },
  'screening.birth_date_impossible': { code: 'INVALID_DOB', status: 400, message: 'The date of birth is not valid.', recoverable: true },
  'screening.minor': { code: 'MINOR_CONSUMER', status: 422, message: 'The person must be at least 18 years old.', recoverable: false },
  'screening.address_refused': { code: 'INVALID_ADDRESS', status: 400, message: 'The address could not be verified.', recoverable: true },
  'screening.otp_unusable': { code: 'INVALID_OTP', status: 400, message: 'The code is not valid.', recoverable: true },
  'screening.kba_unusable': { code: 'INVALID_KBA', status: 400, message: 'The answers are not valid.', recoverable: true },
  'screening.person_blocked': { code: 'USER_BLOCKED', status: 423, message: 'Verification is blocked for this person.', recoverable: false },
  'screening.too_many_resends': { code: 'TOO_MANY_ATTEMPTS', status: 429, message: 'Too many attempts in this session.', recoverable: false },
  'screening.already_registered': {
    code: 'ALREADY_REGISTERED', status: 409, message: 'This person already has a completed screening.', recoverable: false,
  },
  'screening.session_spent': { code: 'SESSION_EXPIRED', status: 410, message: 'This session is over. Start a new verification.', recoverable: false },
  'screening.report_expired': { code: 'REPORT_EXPIRED', status: 410, message: 'The report is older than 30 days. Verify again to renew it.', recoverable: true },
  'screening.identity_not_found': { code: 'IDENTITY_NOT_FOUND', status: 404, message: 'The identity could not be verified.', recoverable: false },
  'screening.product_not_enabled': { code: 'PRODUCT_NOT_ENABLED', status: 422, message: 'This product is not enabled for the account.', recoverable: false },
  'screening.account_not_provisioned': {
    code: 'ACCOUNT_NOT_PROVISIONED', status: 409, message: 'The account is not provisioned for live traffic.', recoverable: false,
  },
  'screening.attempt_in_progress': {
    code: 'ATTEMPT_IN_PROGRESS', status: 409, message: 'A previous answer is still being checked.', recoverable: true,
  },
  'screening.resend_too_early': {
    code: 'NETWORK_RATE_LIMITED', status: 429, message: 'A code was just sent. Wait before asking for another.', recoverable: true,
  },
} as const satisfies Record<Condition, StringFace>;
