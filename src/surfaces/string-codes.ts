// The vocabulary of the string-code surfaces: the code, status and text of each error code, and the envelope. Codes and statuses:
// docs/contract/general.md#errors and the pages of the surfaces.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { machineNow } from '../kernel/machine-time.js';
import type { DomainErrorDetail } from '../kernel/domain-error.js';
import type { DirectErrorCode, ErrorCode } from '../kernel/error-codes.js';
import type { ErrorVocabulary } from '../platform/http/surface.js';

export interface StringError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** Whether the person can continue by changing or repeating the request in the same flow. */
  readonly recoverable: boolean;
}

/** An unknown, a malformed and a foreign id get the same message (docs/contract/general.md#unknown-and-foreign-ids). */
const notThere = (thing: string): string => `No ${thing} with this id exists for this credential.`;

const notFound = (thing: string) =>
  ({ code: 'NOT_FOUND', status: 404, message: notThere(thing), recoverable: false }) as const satisfies StringError;

const ERRORS = {
  'request.invalid': { code: 'VALIDATION_ERROR', status: 400, message: 'The request is not valid.', recoverable: true },
  'request.unreadable_body': {
    code: 'VALIDATION_ERROR',
    status: 400,
    message: 'The body must be JSON in UTF-8, nested at most 32 deep, with no more values than the route takes.',
    recoverable: true,
  },
  'request.media_type': {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    message: 'The body must be JSON. Send it with Content-Type: application/json.',
    recoverable: false,
  },
  'request.unauthenticated': {
    code: 'AUTH_UNAUTHORIZED',
    status: 401,
    message: 'The credential is not valid here.',
    recoverable: false,
  },
  'request.forbidden': {
    code: 'AUTH_FORBIDDEN',
    status: 403,
    message: 'You do not have permission to do this.',
    recoverable: false,
  },
  'request.not_found': notFound('record'),
  'request.unknown_path': { code: 'NOT_FOUND', status: 404, message: 'No route {asked}', recoverable: false },
  'request.unknown_method': {
    code: 'METHOD_NOT_ALLOWED',
    status: 405,
    message: 'No route {asked}',
    recoverable: false,
  },
  'request.not_acceptable': {
    code: 'NOT_ACCEPTABLE',
    status: 406,
    message: 'None of the accepted media types can be served.',
    recoverable: false,
  },
  'request.too_large': {
    code: 'PAYLOAD_TOO_LARGE',
    status: 413,
    message: 'The request body is too large.',
    recoverable: false,
  },
  'request.unsupported_media_type': {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    message: 'The body must be JSON in UTF-8, without a content encoding.',
    recoverable: false,
  },
  'request.url_too_long': { code: 'URI_TOO_LONG', status: 414, message: 'The URL is too long.', recoverable: false },
  'request.headers_too_large': {
    code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
    status: 431,
    message: 'The headers of the request are too large.',
    recoverable: false,
  },
  'request.expectation': {
    code: 'EXPECTATION_FAILED',
    status: 417,
    message: 'The service meets no expectation other than 100-continue.',
    recoverable: false,
  },
  'request.timeout': {
    code: 'REQUEST_TIMEOUT',
    status: 408,
    message: 'The request did not arrive in time. Send it again.',
    recoverable: true,
  },
  'request.rate_limited': {
    code: 'NETWORK_RATE_LIMITED',
    status: 429,
    message: 'Too many requests.',
    recoverable: true,
  },
  'request.plain_http': { code: 'AUTH_FORBIDDEN', status: 403, message: 'HTTPS is required.', recoverable: false },
  'request.idempotency_key_reused': {
    code: 'IDEMPOTENCY_KEY_REUSED',
    status: 409,
    message: 'This idempotency key was used with a different request.',
    recoverable: false,
  },
  'request.idempotent_reply_gone': {
    code: 'SESSION_EXPIRED',
    status: 410,
    message: 'This session is over. Start a new verification.',
    recoverable: false,
  },
  'service.failure': {
    code: 'SYSTEM_INTERNAL_ERROR',
    status: 500,
    message: 'Something went wrong on our side.',
    recoverable: false,
  },
  'service.unavailable': {
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    message: 'The service is temporarily unavailable. Try again shortly.',
    recoverable: true,
  },
  'service.read_only': {
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    message: 'This is a restored copy that can only be read.',
    recoverable: true,
  },
  'service.upstream_timeout': {
    code: 'UPSTREAM_TIMEOUT',
    status: 504,
    message: 'A service behind this one did not answer in time. Try again.',
    recoverable: true,
  },

  'token.key_missing': {
    code: 'MISSING_KEY',
    status: 401,
    message: 'The X-Publishable-Key header is missing.',
    recoverable: false,
  },
  'token.key_invalid': {
    code: 'INVALID_KEY',
    status: 401,
    message: 'The publishable key is malformed or unknown.',
    recoverable: false,
  },
  'token.key_inactive': {
    code: 'KEY_INACTIVE',
    status: 403,
    message: 'The publishable key has been deactivated.',
    recoverable: false,
  },
  'token.origin_missing': {
    code: 'MISSING_ORIGIN',
    status: 400,
    message: 'The Origin header is missing.',
    recoverable: false,
  },
  'token.origin_not_allowed': {
    code: 'ORIGIN_NOT_ALLOWED',
    status: 403,
    message: 'This origin is not allowed for the key.',
    recoverable: false,
  },
  'token.billing_not_configured': {
    code: 'BILLING_NOT_CONFIGURED',
    status: 403,
    message: 'Billing is not configured for this account.',
    recoverable: false,
  },

  'screening.not_found': notFound('screening session'),
  'screening.field_format': {
    code: 'VALIDATION_INVALID_FIELD_FORMAT',
    status: 400,
    message: 'A field does not have the required format.',
    recoverable: true,
  },
  'screening.ssn_missing': {
    code: 'REPORT_MISSING_FIELD',
    status: 400,
    message: 'A required field is missing.',
    recoverable: true,
  },
  'screening.ssn_malformed': {
    code: 'INVALID_SSN',
    status: 400,
    message: 'The SSN must have nine digits.',
    recoverable: true,
  },
  'screening.birth_date_impossible': {
    code: 'INVALID_DOB',
    status: 400,
    message: 'The date of birth is not valid.',
    recoverable: true,
  },
  'screening.minor': {
    code: 'MINOR_CONSUMER',
    status: 422,
    message: 'The person must be at least 18 years old.',
    recoverable: false,
  },
  'screening.address_refused': {
    code: 'INVALID_ADDRESS',
    status: 400,
    message: 'The address could not be verified.',
    recoverable: true,
  },
  'screening.otp_unusable': { code: 'INVALID_OTP', status: 400, message: 'The code is not valid.', recoverable: true },
  'screening.kba_unusable': {
    code: 'INVALID_KBA',
    status: 400,
    message: 'The answers are not valid.',
    recoverable: true,
  },
  'screening.person_blocked': {
    code: 'USER_BLOCKED',
    status: 423,
    message: 'Verification is blocked for this person.',
    recoverable: false,
  },
  'screening.too_many_resends': {
    code: 'TOO_MANY_ATTEMPTS',
    status: 429,
    message: 'Too many attempts in this session.',
    recoverable: false,
  },
  'screening.already_registered': {
    code: 'ALREADY_REGISTERED',
    status: 409,
    message: 'This person already has a completed screening.',
    recoverable: false,
  },
  'screening.session_spent': {
    code: 'SESSION_EXPIRED',
    status: 410,
    message: 'This session is over. Start a new verification.',
    recoverable: false,
  },
  'screening.report_expired': {
    code: 'REPORT_EXPIRED',
    status: 410,
    message: 'The report is older than 30 days. Verify again to renew it.',
    recoverable: true,
  },
  'screening.identity_not_found': {
    code: 'IDENTITY_NOT_FOUND',
    status: 404,
    message: 'The identity could not be verified.',
    recoverable: false,
  },
  'screening.product_not_enabled': {
    code: 'PRODUCT_NOT_ENABLED',
    status: 422,
    message: 'This product is not enabled for the account.',
    recoverable: false,
  },
  'account.not_live': {
    code: 'ACCOUNT_NOT_PROVISIONED',
    status: 409,
    message: 'The account is not provisioned for live traffic.',
    recoverable: false,
  },
  'report.purpose_not_certified': {
    code: 'PURPOSE_NOT_CERTIFIED',
    status: 409,
    message: 'Name a purpose and an end user that the account has certified, and whose certification is not over.',
    recoverable: false,
  },
  'screening.attempt_in_progress': {
    code: 'ATTEMPT_IN_PROGRESS',
    status: 409,
    message: 'A previous answer is still being checked.',
    recoverable: true,
  },
  'screening.resend_too_early': {
    code: 'NETWORK_RATE_LIMITED',
    status: 429,
    message: 'A code was just sent.',
    recoverable: true,
  },

  'payment.session_not_payable': {
    code: 'SCREENING_SESSION_NOT_COMPLETED',
    status: 400,
    message: 'This screening session has ended and cannot be paid for.',
    recoverable: false,
  },
  'payment.not_required': {
    code: 'PAYMENT_NOT_REQUIRED',
    status: 409,
    message: 'No payment is required for this screening session.',
    recoverable: false,
  },
  'payment.not_found': {
    code: 'PAYMENT_NOT_FOUND',
    status: 404,
    message: notThere('payment'),
    recoverable: false,
  },
  'payment.already_completed': {
    code: 'PAYMENT_ALREADY_COMPLETED',
    status: 409,
    message: 'The payment has been made or is being processed.',
    recoverable: false,
  },
  'payment.report_not_available': {
    code: 'REPORT_NOT_AVAILABLE',
    status: 409,
    message: 'No report can be made with this verification, so nothing is charged for it. Verify again.',
    recoverable: true,
  },
  'payment.not_completed': {
    code: 'PAYMENT_NOT_COMPLETED',
    status: 409,
    message: 'The payment has not succeeded, so it cannot be refunded.',
    recoverable: false,
  },
  'payment.report_under_way': {
    code: 'REPORT_IN_PROGRESS',
    status: 409,
    message: 'The report is being pulled now. Try again when the pull has ended.',
    recoverable: true,
  },
  'payment.report_released': {
    code: 'REPORT_ALREADY_RELEASED',
    status: 409,
    message: 'The report was released. Only the operator of the service can refund this payment.',
    recoverable: false,
  },
  'payment.endpoint_retired': {
    code: 'ENDPOINT_RETIRED',
    status: 410,
    message: 'This endpoint is retired.',
    recoverable: false,
  },

  'report.not_completed': {
    code: 'SCREENING_SESSION_NOT_COMPLETED',
    status: 400,
    message: 'Verification must be finished first.',
    recoverable: true,
  },
  'report.expired': {
    code: 'SCREENING_REPORT_EXPIRED',
    status: 410,
    message: 'The report has expired. Verify again to renew it.',
    recoverable: true,
  },
  'report.too_many_attempts': {
    code: 'SCREENING_TOO_MANY_ATTEMPTS',
    status: 429,
    message: 'Too many failed attempts. Start a new verification.',
    recoverable: false,
  },
  'report.consumer_has_not_paid': {
    code: 'PAYMENT_REQUIRED',
    status: 402,
    message: 'The renter has not paid for this report.',
    recoverable: false,
  },
  'report.credit_exhausted': {
    code: 'PAYMENT_REQUIRED',
    status: 402,
    message: 'The credit balance is $0. Add credit to view reports.',
    recoverable: false,
  },
  'report.access_denied': {
    code: 'REPORT_ACCESS_DENIED',
    status: 403,
    message: 'You do not have access to this report.',
    recoverable: false,
  },
  'report.file_frozen': {
    code: 'REPORT_FILE_FROZEN',
    status: 422,
    message:
      'The consumer has frozen this credit file, and can lift the freeze at the credit bureau. Ask for the report again after that. It is not charged again.',
    recoverable: true,
  },
  'report.file_blocked': {
    code: 'SCREENING_IDENTITY_NOT_FOUND',
    status: 422,
    message:
      'The credit bureau has blocked this credit file. The consumer can ask the bureau to lift the block. Ask for the report again after that. It is not charged again.',
    recoverable: true,
  },
  'report.no_record': {
    code: 'SCREENING_IDENTITY_NOT_FOUND',
    status: 422,
    message:
      'The credit bureau has no record of this consumer. Ask for the report again once the bureau has corrected that. It is not charged again.',
    recoverable: true,
  },
  'report.file_condition': {
    code: 'SCREENING_IDENTITY_NOT_FOUND',
    status: 422,
    message:
      'The credit bureau gives no report of this credit file. The consumer can ask the bureau why. Ask for the report again after that. It is not charged again.',
    recoverable: true,
  },
  'report.printer_missing': {
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    message: 'The service cannot print PDFs now, because no browser starts in its sandbox on this machine.',
    recoverable: true,
  },
  'sharing.not_found': {
    code: 'REPORT_SHARING_NOT_FOUND',
    status: 403,
    message: 'This report has not been shared.',
    recoverable: false,
  },
  'sharing.revoked': {
    code: 'REPORT_SHARING_REVOKED',
    status: 403,
    message: 'The consumer has revoked access to this report.',
    recoverable: false,
  },
  'sharing.already_revoked': {
    code: 'REPORT_SHARING_ALREADY_REVOKED',
    status: 409,
    message: 'Sharing has already been revoked for good.',
    recoverable: false,
  },
  'sharing.expired': {
    code: 'REPORT_SHARING_EXPIRED',
    status: 403,
    message: 'Access to this report has expired, or the consumer has not consented yet.',
    recoverable: false,
  },

  'income.report_not_ready': {
    code: 'INCOME_REPORT_NOT_READY',
    status: 400,
    message: 'The income report is not ready.',
    recoverable: true,
  },

  'webhook.endpoint_exists': {
    code: 'WEBHOOK_ENDPOINT_EXISTS',
    status: 409,
    message: 'The account already has a webhook endpoint.',
    recoverable: false,
  },
  'webhook.endpoint_not_found': {
    code: 'WEBHOOK_ENDPOINT_NOT_FOUND',
    status: 404,
    message: notThere('webhook endpoint, or delivery of it,'),
    recoverable: false,
  },
  'webhook.url_invalid': {
    code: 'WEBHOOK_URL_INVALID',
    status: 400,
    message: 'The URL must be https with a public host.',
    recoverable: true,
  },
  'webhook.endpoint_disabled': {
    code: 'WEBHOOK_ENDPOINT_DISABLED',
    status: 409,
    message: 'The webhook endpoint is disabled.',
    recoverable: true,
  },
  'webhook.redelivery_too_soon': {
    code: 'WEBHOOK_REDELIVERY_TOO_SOON',
    status: 429,
    message: 'This delivery was just sent again.',
    recoverable: true,
  },
} as const satisfies Readonly<Record<Exclude<ErrorCode, DirectErrorCode>, StringError>>;

/** The wire names of the domain's fields in the bodies of the string-code surfaces. */
const FIELDS = {
  'person.userType': 'userType',
  'person.firstName': 'firstName',
  'person.middleName': 'middleName',
  'person.lastName': 'lastName',
  'person.birthDate': 'dateOfBirth',
  'person.ssn': 'ssn',
  'person.phone': 'phoneNumber',
  'person.email': 'email',
  'person.companyName': 'companyName',
  'address.street': 'currentAddress',
  'address.city': 'currentCity',
  'address.state': 'currentState',
  'address.postalCode': 'currentZip',
  'device.fingerprint': 'jscPayload',
  'device.ipAddress': 'ipAddress',
  'screening.endUserType': 'endUserType',
  'screening.purpose': 'purpose',
  'screening.productId': 'productId',
  'screening.termsVersion': 'termsVersion',
  'otp.code': 'code',
  'kba.answers': 'answers',
  'share.recipient': 'recipientAccountId',
  'pdf.page': 'html',
  'payment.amount': 'amount',
  'payment.applicationFee': 'applicationFee',
  'income.screening': 'screening_session_id',
  'grant.recipient': 'recipient_account_id',
  'grant.applicationFee': 'application_fee',
  'webhook.url': 'url',
  'test.until': 'until',
  'test.data': 'data',
  'test.advance': 'advance',
  'test.to': 'to',
} as const satisfies ErrorVocabulary<StringError>['fields'];

type Special = Readonly<Partial<Record<ErrorCode, StringError>>>;

/** The errors of routes that name a payment or a report by its session. */
export const OF_A_SESSION = {
  'screening.not_found': {
    code: 'SCREENING_NOT_FOUND',
    status: 404,
    message: notThere('screening session'),
    recoverable: false,
  },
} as const satisfies Special;

export const INCOME_ERRORS = { 'request.not_found': notFound('income session') } as const satisfies Special;
export const GRANT_ERRORS = { 'request.not_found': notFound('direct child account') } as const satisfies Special;
export const FEED_ERRORS = { 'request.not_found': notFound('account') } as const satisfies Special;
export const WEBHOOK_ERRORS = { 'request.not_found': notFound('delivery') } as const satisfies Special;

export const TOKEN_ERRORS = {
  'request.rate_limited': {
    code: 'RATE_LIMITED',
    status: 429,
    message: 'Too many token exchanges.',
    recoverable: true,
  },
  'service.failure': {
    code: 'INTERNAL_ERROR',
    status: 500,
    message: 'The token exchange failed unexpectedly.',
    recoverable: false,
  },
} as const satisfies Special;

export const REPORT_ERRORS = {
  'account.not_live': {
    code: 'ACCOUNT_NOT_LIVE',
    status: 409,
    message: 'The account is not provisioned for live traffic.',
    recoverable: false,
  },
  'screening.identity_not_found': {
    code: 'SCREENING_IDENTITY_NOT_FOUND',
    status: 422,
    message: 'The identity could not be verified.',
    recoverable: false,
  },
  'screening.person_blocked': {
    code: 'SCREENING_USER_BLOCKED',
    status: 403,
    message: 'This person is blocked.',
    recoverable: false,
  },
} as const satisfies Special;

/** Every error with which a string-code surface can answer. */
export const said: readonly StringError[] = [ERRORS, OF_A_SESSION, TOKEN_ERRORS, REPORT_ERRORS].flatMap(
  (errors: Special): StringError[] => Object.values(errors),
);

class ErrorDetail {
  @ApiProperty() readonly field!: string;
  @ApiProperty() readonly message!: string;
}

class ErrorContent {
  @ApiProperty({ enum: [...new Set(said.map(({ code }) => code))].sort() }) readonly code!: string;
  @ApiProperty({ description: 'For developers: the rule that the field at fault breaks, or the reason of the error' })
  readonly message!: string;
  @ApiPropertyOptional({ description: 'The first field at fault, in documented order' }) readonly field?: string;
  @ApiPropertyOptional({ type: [ErrorDetail], description: 'Every field at fault' })
  readonly details?: readonly ErrorDetail[];
  @ApiProperty() readonly recoverable!: boolean;
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The session that the refused submission opened, when it ended BLOCKED',
  })
  readonly sessionId?: string;
  @ApiPropertyOptional({
    description: 'Why the session is blocked, if a browser may know; or why the bureau gives no report',
  })
  readonly reasonCode?: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'End of the block of a person who is blocked for a time' })
  readonly blockedUntil?: string;
  @ApiProperty({ format: 'uuid', description: 'The `Service-Request-Id` of the reply' }) readonly request_id!: string;
  @ApiPropertyOptional({ format: 'uri', description: 'Where the documents tell of the code' })
  readonly doc_url?: string;
}

class ErrorResult {
  @ApiProperty({ type: ErrorContent }) readonly error!: ErrorContent;
  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The session that the refused submission opened, or that its session grant already has',
  })
  readonly sessionId?: string;
}

/** In characters. */
const LONGEST_QUOTE = 200;

/** Names the request when its path or its method is the mistake, and names the end of a wait. */
function messageOf({ message, status }: StringError, detail: DomainErrorDetail, asked: string, docsUrl: string | null) {
  const { rule = message, methods, retryAfterSeconds } = detail;
  const takes = methods === undefined ? '' : `: this path takes ${methods.join(', ')}`;
  const documents = docsUrl === null ? '' : `; documents: ${docsUrl}`;
  if (rule === ERRORS['request.unknown_path'].message)
    return rule.replace('{asked}', () => asked.slice(0, LONGEST_QUOTE) + takes + documents);
  if (status !== 429 || retryAfterSeconds === undefined) return rule;
  return `${rule} Try again after ${new Date(machineNow() + retryAfterSeconds * 1_000).toISOString()}.`;
}

/** RFC 9110, section 11.6.1, and RFC 6750 when the credential is a bearer token. */
function challengeOf(prefix: string, reason: string): string {
  const scheme = prefix === '/auth' ? 'PublishableKey' : prefix.startsWith('/v1') ? 'SecretKey' : 'Bearer';
  return `${scheme} error="invalid_token", error_description="${reason.replace(/["\\]/g, '')}"`;
}

interface StringVocabulary extends ErrorVocabulary<StringError> {
  readonly errors: Readonly<Record<Exclude<ErrorCode, DirectErrorCode>, StringError>> & Special;
}

export const STRING_CODES: StringVocabulary = {
  errors: ERRORS,
  fields: FIELDS,
  errorResult: ErrorResult,
  envelope(entry, detail, { requestId, asked, docsUrl }): ErrorResult {
    const { code, recoverable } = entry;
    const { field, details, sessionId, block, blockedUntil } = detail;
    const reasonCode = block?.reasonCode ?? detail.reasonCode;
    const broken = details?.find((detail) => detail.field === field);
    return {
      error: {
        code,
        message: broken ? `${broken.field} ${broken.message}.` : messageOf(entry, detail, asked, docsUrl),
        ...(field === undefined ? {} : { field }),
        ...(details === undefined ? {} : { details }),
        recoverable,
        ...(block && { sessionId }),
        ...(reasonCode === undefined ? {} : { reasonCode }),
        ...(blockedUntil === undefined ? {} : { blockedUntil }),
        request_id: requestId,
        ...(docsUrl !== null && { doc_url: `${docsUrl}/errors#${code}` }),
      },
      ...(sessionId === undefined ? {} : { sessionId }),
    };
  },
  headers: (entry, detail, prefix) => ({
    ...(detail.methods && { allow: detail.methods.join(', ') }),
    ...(entry.status === 401 && { 'www-authenticate': challengeOf(prefix, detail.rule ?? entry.message) }),
  }),
  about: [
    'Every error is `{ "error": { "code", "message", "field"?, "details"?, "recoverable", "request_id", "doc_url"? } }`. `field` names the',
    'first wrong field in documented order, and `message` gives the rule of that field. `details` lists all wrong fields. `request_id` is the',
    '`Service-Request-Id` of the reply. `doc_url` is the address of the code in this list. A refused submission may have opened a session, or its session grant may already have one. The',
    'reply then has the id of that session as `sessionId` beside `error`. If that session ended `BLOCKED`, `error` has `sessionId` as well,',
    'and `reasonCode` if a browser may know the reason. If the person is blocked for a time, `error` has `blockedUntil`.',
  ],
  codeOf: ({ code }) => code,
  columns: {
    HTTP: ({ status }) => String(status),
    Recoverable: ({ recoverable }) => (recoverable ? 'yes' : 'no'),
  },
};
