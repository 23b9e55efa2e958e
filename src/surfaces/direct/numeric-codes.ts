// The vocabulary of the direct API: the number, status and text of each error code, and the envelope (docs/contract/direct.md#errors).
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { DomainErrorDetail } from '../../kernel/domain-error.js';
import type { CommonErrorCode, DirectErrorCode, ErrorCode } from '../../kernel/error-codes.js';
import type { ErrorVocabulary, Said } from '../../platform/http/surface.js';
import { envelopeAround, type NumericErrorItem } from './envelope.js';
import { decisionsTable, OLDER_CODES, olderCodeOf, olderCodesTable } from './older-codes.js';

export interface NumericError {
  readonly status: number;
  readonly errorCode: number;
  readonly message: string;
  /** The field that the code stands for. This field replaces the field that the error names. */
  readonly field?: string;
  readonly payload?: object;
  /** Omits the payload and puts the message next to the errors. Older callers of the exclude parameters expect this form. */
  readonly reduced?: true;
  readonly retryAfterSeconds?: number;
}

/** For each status, the wait after an outage or a limit, unless the error itself gives one. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 429: 30, 503: 5, 504: 5 };
/** After this time an unanswered challenge has expired, and a new one may begin. */
const CHALLENGE_OVER_SECONDS = 1_800;

function numeric(status: number, errorCode: number, message: string, more: Partial<NumericError> = {}): NumericError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS[status];
  return { status, errorCode, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), ...more };
}

/** A row of the older catalogue, for a fault that the service itself finds. */
function older(code: number): NumericError {
  const row = OLDER_CODES.get(code);
  if (row === undefined) throw new Error(`There is no older code ${code}`);
  return numeric(row.status, row.code, row.message);
}

/** The catalogue's row for the vendor's own number. The row has priority over the service's interpretation of the answer. */
function said({ vendor }: DomainErrorDetail): NumericError | null {
  const row = vendor ? olderCodeOf(vendor) : null;
  return row && numeric(row.status, row.code, row.message);
}

function blocked(detail: DomainErrorDetail): NumericError {
  return said(detail) ?? numeric(423, 300, blockedMessage(detail));
}

function blockedMessage({ blockedUntil }: DomainErrorDetail): string {
  return blockedUntil === undefined ? 'User is blocked.' : `User is blocked until ${blockedUntil}.`;
}

function refusedByVendor(detail: DomainErrorDetail): NumericError {
  const { reply = { status: 0 } } = detail.vendor ?? {};
  const isRefusal = reply === null || (reply.status >= 400 && reply.status < 500);
  return (
    said(detail) ?? (isRefusal ? numeric(400, 121, 'The service behind this one refused the request.') : UPSTREAM_FAULT)
  );
}

const UPSTREAM_FAULT = numeric(502, 131, 'A service behind this one failed.');
const NO_CHALLENGE = numeric(400, 138, 'The party has no open challenge: authSession is missing.', {
  field: 'authSession',
});
const UNREADABLE = numeric(
  400,
  121,
  'The body must be JSON in UTF-8, nested at most 32 deep, with no more values than the route takes.',
);
const NO_ENDPOINT = 'No endpoint has this path and method.';
const RENTER_UNKNOWN = numeric(404, 278, 'The renter was not found.');
const ALREADY_REGISTERED = numeric(409, 292, 'The user is already registered.');
const UNAVAILABLE = numeric(503, 130, 'The service is temporarily unavailable.');

type CheckoutErrorCode = Extract<DirectErrorCode, `checkout.${string}`>;
type Errors<Code extends ErrorCode> = Readonly<Record<Code, Said<NumericError>>>;

const ERRORS: Errors<Exclude<CommonErrorCode | DirectErrorCode, CheckoutErrorCode>> = {
  'request.invalid': ({ field }) =>
    field === undefined
      ? numeric(400, 121, 'The request is malformed.')
      : numeric(400, 138, 'A required field is missing or invalid.'),
  'request.unreadable_body': UNREADABLE,
  'request.media_type': UNREADABLE,
  'request.unauthenticated': numeric(403, 324, 'invalid client secret'),
  'request.forbidden': numeric(403, 121, 'The caller may not do this.'),
  'request.not_found': numeric(404, 121, 'Not found.'),
  'request.unknown_path': numeric(404, 121, NO_ENDPOINT),
  'request.unknown_method': numeric(404, 121, NO_ENDPOINT),
  'request.not_acceptable': numeric(406, 121, 'The report is available as JSON or HTML.'),
  'request.too_large': numeric(413, 121, 'The request body is too large.'),
  'request.unsupported_media_type': numeric(415, 121, 'The body must be JSON in UTF-8, without a content encoding.'),
  'request.url_too_long': numeric(414, 121, 'The URL is too long.'),
  'request.headers_too_large': numeric(431, 121, 'The headers of the request are too large.'),
  'request.expectation': numeric(417, 121, 'The service meets no expectation other than 100-continue.'),
  'request.timeout': numeric(408, 121, 'The request did not arrive in time.'),
  'request.rate_limited': numeric(429, 121, 'Too many requests. Try again later.'),
  'request.plain_http': numeric(403, 121, 'HTTPS is required.'),
  'request.idempotency_key_reused': numeric(409, 121, 'This idempotency key was used with a different request.'),
  'request.idempotent_reply_gone': numeric(409, 121, 'The first reply was about a person who was erased.'),
  'service.failure': numeric(500, 130, 'Something went wrong on our side.'),
  'service.unavailable': UNAVAILABLE,
  'service.read_only': numeric(503, 130, 'This is a restored copy that can only be read.'),
  'service.upstream_timeout': numeric(504, 131, 'A service behind this one did not answer in time.'),

  'account.not_live': numeric(409, 341, 'The account is not provisioned for live vendor access.'),
  'report.purpose_not_certified': numeric(
    409,
    121,
    'Name a purpose and an end user that the account has certified, and whose certification is not over.',
    { field: 'purpose' },
  ),

  'screening.not_found': RENTER_UNKNOWN,
  'screening.field_format': numeric(400, 138, 'A field does not have the required format.'),
  'screening.ssn_missing': older(2403),
  'screening.ssn_malformed': numeric(400, 138, 'The SSN must have nine digits.', { field: 'ssn' }),
  'screening.birth_date_impossible': numeric(400, 138, 'The date of birth is not valid.', { field: 'dob' }),
  'screening.minor': older(2010),
  'screening.address_refused': older(2407),
  'screening.otp_unusable': numeric(400, 138, 'The code is not valid, or the challenge offers no codes.', {
    field: 'code',
  }),
  'screening.kba_unusable': numeric(400, 138, 'The answers are not valid, or the challenge offers no questions.', {
    field: 'kbaAnswers',
  }),
  'screening.person_blocked': blocked,
  'screening.too_many_resends': numeric(429, 121, 'This challenge has used up its codes. Begin a new one later.', {
    retryAfterSeconds: CHALLENGE_OVER_SECONDS,
  }),
  'screening.already_registered': ALREADY_REGISTERED,
  'screening.session_spent': NO_CHALLENGE,
  'screening.report_expired': older(2802),
  'screening.identity_not_found': older(3014),
  'screening.product_not_enabled': older(2004),
  'screening.attempt_in_progress': numeric(409, 121, 'An earlier call for this party is still with the vendor.'),
  'screening.resend_too_early': numeric(429, 121, 'A code was just sent. Wait before asking for another.'),

  'report.not_completed': older(9010),
  'report.expired': numeric(400, 138, 'The report has expired. Register again to renew it.', {
    field: 'tokenExpiration',
  }),
  'report.too_many_attempts': older(9010),
  'report.consumer_has_not_paid': unpaid('NO_COMPLETED_PAYMENT', 'The renter has not paid for this report.'),
  'report.credit_exhausted': unpaid('NO_CREDIT', 'The credit balance is $0. Add credit to view reports.'),
  'report.access_denied': older(9016),
  'report.file_frozen': older(9132),
  'report.file_blocked': older(9116),
  'report.no_record': older(9193),
  'report.file_condition': ({ reasonCode }) => older(reasonCode === 'MINOR' ? 9110 : 9193),
  'report.printer_missing': UNAVAILABLE,

  'exclusion.invalid': ({ field = 'The parameter' }) =>
    numeric(400, 138, `${field} must be true or false.`, { reduced: true }),
  'vendor.refused': refusedByVendor,
  'vendor.unreachable': UPSTREAM_FAULT,
  'party.renter_unknown': RENTER_UNKNOWN,
  'party.recipient_unknown': numeric(404, 293, 'The agent or organization was not found.'),
  'party.locked': blocked,
  'party.already_confirmed': ALREADY_REGISTERED,
  'party.no_challenge': NO_CHALLENGE,
  'party.token_missing': numeric(400, 138, 'The vendor has issued no consumerToken yet.', { field: 'consumerToken' }),
  'party.not_confirmed': older(9010),
  'party.recipient_not_authenticated': older(9011),
  'party.report_not_linked': older(9016),
  'party.link_over': older(9015),
};

function unpaid(reason: string, message: string): NumericError {
  return numeric(402, 285, message, { payload: { reason, message } });
}

const asStatus = (status: number, message: string): NumericError => numeric(status, status, message);

/** Below `/api/pay` the number is the HTTP status, except for unreadable bodies and wrong keys (docs/contract/direct.md#checkout). */
export const PAYMENT_ERRORS = {
  'request.invalid': asStatus(400, 'A required field is missing or invalid.'),
  'request.forbidden': asStatus(403, 'The caller may not do this.'),
  'request.not_found': asStatus(404, 'Not found.'),
  'request.unknown_path': asStatus(404, NO_ENDPOINT),
  'request.unknown_method': asStatus(404, NO_ENDPOINT),
  'request.not_acceptable': asStatus(406, 'None of the accepted media types can be served.'),
  'request.too_large': asStatus(413, 'The request body is too large.'),
  'request.unsupported_media_type': asStatus(415, 'The body must be JSON in UTF-8, without a content encoding.'),
  'request.url_too_long': asStatus(414, 'The URL is too long.'),
  'request.headers_too_large': asStatus(431, 'The headers of the request are too large.'),
  'request.expectation': asStatus(417, 'The service meets no expectation other than 100-continue.'),
  'request.timeout': asStatus(408, 'The request did not arrive in time.'),
  'request.rate_limited': asStatus(429, 'Too many requests. Try again later.'),
  'request.plain_http': asStatus(403, 'HTTPS is required.'),
  'request.idempotency_key_reused': asStatus(409, 'This idempotency key was used with a different request.'),
  'request.idempotent_reply_gone': asStatus(409, 'The first reply was about a person who was erased.'),
  'service.failure': asStatus(500, 'Something went wrong on our side.'),
  // The processor is unavailable, or many callers send requests for the same renter at once.
  'service.unavailable': asStatus(503, 'No payment can be started right now. Try again.'),
  'service.read_only': asStatus(503, 'This is a restored copy that can only be read.'),
  'service.upstream_timeout': asStatus(504, 'The payment processor did not answer in time.'),
  'account.not_live': asStatus(409, 'The account is not provisioned for live traffic.'),
  'party.locked': (detail) => asStatus(423, blockedMessage(detail)),
  'payment.session_not_payable': asStatus(400, 'The screening of the renter has ended without success.'),
  'payment.report_not_available': asStatus(409, 'No report can be made with this registration. Register again.'),
  'payment.not_required': asStatus(400, 'The renter does not have to pay.'),
  'checkout.already_paid': asStatus(409, 'The renter has paid already.'),
  'checkout.misconfigured': asStatus(500, 'The payment is not configured properly.'),
  'checkout.renter_unknown': asStatus(404, 'The renter was not found.'),
} as const satisfies Errors<CheckoutErrorCode> & Partial<Errors<ErrorCode>>;

/** The wire names of the domain's fields in the bodies of the direct API. */
const FIELDS: ErrorVocabulary<NumericError>['fields'] = {
  'person.userType': 'userType',
  'person.firstName': 'firstName',
  'person.middleName': 'middleName',
  'person.lastName': 'lastName',
  'person.birthDate': 'dob',
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
  'kba.answers': 'kbaAnswers',
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
};

class NumericErrorContent implements NumericErrorItem {
  @ApiProperty({ type: 'integer', description: 'See the error catalogue' }) readonly errorCode!: number;
  @ApiProperty({ type: String, nullable: true }) readonly errorOnField!: string | null;
  @ApiProperty({ description: 'For developers' }) readonly errorMessage!: string;
}

/** The shape of every error of the direct API. The descriptions of its routes use it too. */
export class NumericErrorResult {
  @ApiProperty({
    oneOf: [{ type: 'object', additionalProperties: true }, { type: 'string' }],
    nullable: true,
    description: "The vendor's own answer with 422 and 423, the reason of a 402; otherwise null",
  })
  readonly payload!: unknown;
  @ApiProperty({ type: [NumericErrorContent] }) readonly errors!: readonly NumericErrorContent[];
}

class ReducedErrorContent {
  @ApiProperty({ type: 'integer' }) readonly errorCode!: number;
  @ApiProperty({ type: String, nullable: true }) readonly errorOnField!: string | null;
  @ApiProperty() readonly message!: string;
}

/** The shape of an error without a payload, as older callers of the exclude parameters know it. */
export class ReducedErrorResult {
  @ApiProperty({ type: [ReducedErrorContent] }) readonly errors!: readonly ReducedErrorContent[];
  @ApiProperty() readonly message!: string;
}

/** The empty list of errors in a success. */
export const NO_ERRORS: ApiPropertyOptions = { type: [NumericErrorContent], maxItems: 0 };

export const NUMERIC_CODES: ErrorVocabulary<NumericError> = {
  errors: ERRORS,
  fields: FIELDS,
  errorResult: NumericErrorResult,
  envelope(entry, detail, { prefix }): object | string {
    const { errorCode, status, payload = null, reduced } = entry;
    const errorOnField = entry.field ?? detail.field ?? null;
    const errorMessage = messageOf(entry, detail);
    const errors = [{ errorCode, errorOnField, errorMessage }];
    if (reduced) return { errors: [{ errorCode, errorOnField, message: errorMessage }], message: errorMessage };
    // The payload is the vendor's answer, as in a success (docs/contract/direct.md#passthrough).
    if (detail.vendor?.reply && (status === 422 || status === 423))
      return envelopeAround(detail.vendor.reply.body, errors);
    return prefix === '/api/pay' ? { errors, payload } : { payload, errors };
  },
  about: [
    'Every error is `{ "payload", "errors": [{ "errorCode", "errorOnField", "errorMessage" }] }`. Below `/api/pay` the errors come first.',
    '`errorOnField` names the wrong field, or is null. The reply to wrong answers is 422 with an empty list of errors, so check the status.',
  ],
  codeOf: ({ errorCode }) => String(errorCode),
  columns: {
    HTTP: ({ status }) => String(status),
    Field: ({ field }) => (field === undefined ? '' : `\`${field}\``),
  },
  appendix: [
    '',
    '### Refusals of vendors (`vendor.refused`)',
    '',
    "A vendor's number determines the reply, and not the vendor's status. An unlisted number becomes 121 (400) after a 4xx of the vendor, and 131 (502)",
    'after a 5xx. Exceptions: on re-authentication 710 becomes 3009, 720 becomes 3001 (503), and 1004 is 400. At registration and when a',
    'code is sent again, 2502 has the message "auth general error".',
    '',
    ...olderCodesTable(),
    '',
    'The decisions of a vendor that does not speak the form of the direct API have these codes:',
    '',
    ...decisionsTable(),
  ],
};

/** Prefers the rule of the wrong field. A vendor's refusal gets the catalogue's text. */
function messageOf({ message, field }: NumericError, { details, rule, ...detail }: DomainErrorDetail): string {
  const broken = details?.find((one) => one.field === (detail.field ?? field));
  return broken ? `${broken.field} ${broken.message}.` : (rule ?? message);
}
