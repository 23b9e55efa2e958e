// Every named reason to refuse a request. `surfaces/` has the texts of each API surface.

/** Keyed by `<area>.<code>`. The texts are for readers of code and of generated documents. */
export const ERROR_CODES = {
  'request.invalid': 'The request does not have the documented form.',
  'request.unreadable_body': 'The body is not JSON in UTF-8, is nested too deep, or has too many values.',
  'request.unauthenticated': 'Authentication is missing, invalid or bound to another origin.',
  'request.forbidden': 'The caller is known but has no right to make this request.',
  'request.not_found': 'The object does not exist, or does not belong to the caller.',
  'request.unknown_path': 'No endpoint has this path.',
  'request.unknown_method': 'The path does not accept this method. The header `Allow` lists the accepted methods.',
  'request.not_acceptable': 'The service cannot answer in any of the media types that the caller accepts.',
  'request.too_large': 'The request body has more bytes than the route accepts. The message names the limit.',
  'request.media_type': 'The media type of the body is not JSON, or is missing.',
  'request.unsupported_media_type': 'The service does not support the content encoding or the charset of the body.',
  'request.url_too_long': 'The URL with all headers is larger than the limit, and the URL has more than half of it.',
  'request.headers_too_large': 'The URL with all headers is larger than the limit, which the message names.',
  'request.expectation': 'The header `Expect` asks for a function that the service does not support.',
  'request.timeout': 'The request did not arrive in time.',
  'request.rate_limited': 'The caller has sent too many requests. The reply says when to try again.',
  'request.plain_http': 'The request did not arrive over TLS.',
  'request.idempotency_key_reused': 'The idempotency key was already used with another body.',
  'request.idempotent_reply_gone':
    'The first reply for this idempotency key was about a person who was erased since then.',
  'service.failure': 'An internal error occurred in the service.',
  'service.unavailable':
    'The service or the vendor behind it cannot answer now. The request may have begun a change. Send the same request again.',
  'service.read_only': 'The service shows a restored copy of the data and refuses every change.',
  'service.upstream_timeout':
    'The vendor did not answer in time. The request may have begun a change. Send the same request again.',

  'token.key_missing': 'The token exchange has no publishable key.',
  'token.key_invalid': 'The publishable key is malformed or unknown.',
  'token.key_inactive': 'The publishable key was deactivated.',
  'token.origin_missing': 'The token exchange has no Origin header.',
  'token.origin_not_allowed': "The origin is not in the key's list.",
  'token.billing_not_configured':
    'The key is live, and its account has neither prepaid billing nor a connected payment account.',

  'account.not_live': 'The account is not set up for live traffic, so it cannot screen persons or pull reports.',
  'report.purpose_not_certified':
    'The account must certify its purposes, and the read names no purpose and end user that it has certified.',

  'screening.not_found': 'The screening session does not exist, or does not belong to the caller.',
  'screening.field_format': 'A field does not follow its format.',
  'screening.ssn_missing': 'A field that the report needs, such as the SSN, is missing.',
  'screening.ssn_malformed': 'The SSN is not nine digits.',
  'screening.birth_date_impossible': 'The birth date does not exist, or the person would be older than 120 years.',
  'screening.minor': 'The person is under 18.',
  'screening.address_refused': 'The vendor cannot verify the address.',
  'screening.otp_unusable': 'The one-time code is malformed, or the session offers no codes.',
  'screening.kba_unusable':
    'The answers are malformed, incomplete or not among those offered, or the session offers no questions.',
  'screening.person_blocked': 'The person is locked out, or the vendor has refused the person.',
  'screening.too_many_resends': 'No further SMS code can be sent in this session.',
  'screening.already_registered': 'The person has a completed screening whose report has not expired.',
  'screening.session_spent': 'The session is over or was already completed. The person needs a new verification.',
  'screening.report_expired':
    "The vendor's file on the person is too old. A new verification of the person renews the file.",
  'screening.identity_not_found': 'The identity could not be verified.',
  'screening.product_not_enabled': 'The account may not screen this kind of user.',
  'screening.attempt_in_progress': 'The vendor is still checking an earlier answer of this session.',
  'screening.resend_too_early': 'The last SMS code was sent too recently.',

  'payment.session_not_payable': 'The screening session has ended without success, so it cannot be paid for.',
  'payment.not_required': 'The screening session needs no payment.',
  'payment.not_found': 'The payment transaction does not exist, or does not belong to the caller.',
  'payment.already_completed': 'The payment has succeeded or is being processed.',
  'payment.report_not_available':
    'The person is verified, but the bureau can make no report from this verification. The person needs a new verification.',
  'payment.not_completed': 'The payment has not succeeded, so it cannot be refunded.',
  'payment.report_under_way':
    'The service is pulling the report. After that, it is clear whether the payment can be refunded.',
  'payment.report_released': 'The paid report was released. Only an operator can refund the payment.',
  'payment.endpoint_retired': 'The endpoint no longer exists.',

  'report.not_completed': 'The verification of the person is not complete.',
  'report.expired': 'The report is older than 30 days. A new report needs a new verification.',
  'report.too_many_attempts': 'Too many wrong answers have ended the session, and the block of the person is over.',
  'report.consumer_has_not_paid': 'The consumer has not paid for the screening.',
  'report.credit_exhausted': 'The prepaid credit of the account is used up.',
  'report.access_denied': 'Users of this kind have no credit report, or the link to the PDF is no longer valid.',
  'report.file_frozen': 'The consumer has frozen the credit file, and can lift the freeze at the bureau.',
  'report.file_blocked':
    'The bureau has blocked the credit file. The report is available after the bureau has lifted the block.',
  'report.no_record': 'The bureau has no record of the person.',
  'report.file_condition': 'The bureau refuses the report because of the condition of the credit file.',
  'report.printer_missing':
    'On this machine, the browser that prints PDFs does not start, or its sandbox does not work.',
  'sharing.not_found': 'The report was never shared with this account.',
  'sharing.revoked': 'The consumer has revoked the share.',
  'sharing.already_revoked': 'The share was revoked before. A revocation is final.',
  'sharing.expired': 'The 24 months of the share are over, or the consumer has not consented yet.',

  'income.report_not_ready': 'The income session is not complete.',

  'webhook.endpoint_exists': 'The account already has an active or failing webhook endpoint.',
  'webhook.endpoint_not_found': 'The webhook endpoint or delivery does not exist, or does not belong to the caller.',
  'webhook.url_invalid': 'The address does not begin with https, or its host is not public.',
  'webhook.endpoint_disabled': 'The webhook endpoint is disabled.',
  'webhook.redelivery_too_soon': 'The account has already sent this delivery again within the last minute.',

  'exclusion.invalid': 'A parameter that excludes a section of the report is neither true nor false.',
  'vendor.refused': "The vendor refused the request. The reply has the vendor's own message.",
  'vendor.unreachable': 'The vendor could not be reached, or its answer could not be understood.',
  'party.renter_unknown': 'No renter with this id was registered, or the renter belongs to another account.',
  'party.recipient_unknown': 'No agent or organization with this id was registered, or it belongs to another account.',
  'party.locked': 'Wrong answers have locked the party out for a time.',
  'party.already_confirmed': 'The identity of the party is already confirmed.',
  'party.no_challenge': 'The party has no open challenge.',
  'party.token_missing': 'The vendor has issued no token for the party.',
  'party.not_confirmed': 'The identity of the renter is not confirmed.',
  'party.recipient_not_authenticated': 'The agent or organization is not authenticated, or its authentication is over.',
  'party.report_not_linked': 'The report of the renter is not linked to this agent or organization.',
  'party.link_over': 'The link between the report and this agent or organization has expired.',
  'checkout.already_paid':
    'The renter has paid within the last 30 days, or has already paid for the newest screening session.',
  'checkout.misconfigured': "The processor refuses the account's settings, or the price is below the fee.",
  'checkout.renter_unknown': 'The checkout names a renter who was never registered or belongs to another account.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Errors of the direct API only. The other surfaces have no texts for these errors. */
export type DirectErrorCode = Extract<
  ErrorCode,
  `exclusion.${string}` | `vendor.${string}` | `party.${string}` | `checkout.${string}`
>;
/** Errors of every surface except the direct API. */
type PlatformErrorCode = Extract<
  ErrorCode,
  `token.${string}` | `payment.${string}` | `sharing.${string}` | `income.${string}` | `webhook.${string}`
>;
/** Errors for which every surface has texts. */
export type CommonErrorCode = Exclude<ErrorCode, DirectErrorCode | PlatformErrorCode>;

/** Temporary errors of a session or payment. The same request may succeed later, so replies with these codes are not kept. */
export const TEMPORARY_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'screening.attempt_in_progress',
  'payment.already_completed',
]);
