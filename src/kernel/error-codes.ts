// Every named reason for which something may not happen. How each API surface says it is in `surfaces/`.

/** Keyed by `<area>.<code>`; the text says what is the case, for those who read code and generated documents. */
export const ERROR_CODES = {
  'request.invalid': 'The request does not have the documented form.',
  'request.unreadable_body': 'The body is no JSON in UTF-8, or more of it than anybody needs.',
  'request.unauthenticated': 'Authentication is missing, invalid or bound to another origin.',
  'request.forbidden': 'The caller is known but may not do this.',
  'request.not_found': "No such thing, or not the caller's: the two cannot be told apart.",
  'request.unknown_path': 'No endpoint has this path and method.',
  'request.not_acceptable': 'None of the media types the caller accepts can be served.',
  'request.too_large': 'The request body is larger than the limit.',
  'request.unsupported_media_type': 'The body has a content encoding or a charset that is not read.',
  'request.url_too_long': 'The URL is longer than the limit.',
  'request.headers_too_large': 'The headers are larger than the limit.',
  'request.expectation': 'The request expects something that the service does not do.',
  'request.timeout': 'The request did not arrive in time.',
  'request.rate_limited': 'Too many requests; the reply says when to come back.',
  'request.plain_http': 'The request did not arrive over TLS.',
  'request.idempotency_key_reused': 'The idempotency key was used with another body before.',
  'request.idempotent_reply_gone': 'The reply kept under the idempotency key told of a person who was erased.',
  'service.failure': 'A fault of the service itself.',
  'service.unavailable': 'The service or the vendor behind it cannot answer now; nothing was changed.',
  'service.read_only': 'The service shows a restored copy, in which nothing may be changed.',
  'service.upstream_timeout': 'The vendor did not answer in time; nothing was changed.',

  'token.key_missing': 'The token exchange has no publishable key.',
  'token.key_invalid': 'The publishable key is malformed or unknown.',
  'token.key_inactive': 'The publishable key was deactivated.',
  'token.origin_missing': 'The token exchange has no Origin header.',
  'token.origin_not_allowed': "The origin is not in the key's list.",
  'token.billing_not_configured': 'A live key of an account without prepaid billing or a connected payment account.',

  'account.not_live': 'The account is not provisioned for live traffic: it screens no one and pulls no report.',

  'screening.not_found': "No such screening session, or not the caller's.",
  'screening.field_format': 'A field does not follow its format.',
  'screening.ssn_missing': 'A field that the report needs, such as the SSN, is missing.',
  'screening.ssn_malformed': 'The SSN is not nine digits.',
  'screening.birth_date_impossible': 'The birth date is no real date or says more than 120 years.',
  'screening.minor': 'The person is under 18.',
  'screening.address_refused': 'The vendor cannot verify the address.',
  'screening.otp_unusable': 'The one-time code is malformed, or codes are not offered in this session.',
  'screening.kba_unusable': 'The answers are malformed, incomplete or foreign, or the session offers no questions.',
  'screening.person_blocked': 'The person is locked out or was refused.',
  'screening.too_many_resends': 'The session has used up its SMS codes.',
  'screening.already_registered': 'The person has a completed screening with an unexpired report.',
  'screening.session_spent': 'The session is over or already used; a new verification is needed.',
  'screening.report_expired': "The vendor's file on the person is too old; verifying again renews it.",
  'screening.identity_not_found': 'The identity could not be verified.',
  'screening.product_not_enabled': 'The account may not screen this kind of user.',
  'screening.attempt_in_progress': 'Another answer of this session is with the vendor.',
  'screening.resend_too_early': 'The last SMS code is too recent.',

  'payment.session_not_payable': 'The screening session has ended without success: there is nothing to pay for.',
  'payment.not_required': 'Nobody has to pay for this screening session.',
  'payment.not_found': "No such payment transaction, or not the caller's.",
  'payment.already_completed': 'The payment has succeeded or is being processed.',
  'payment.report_not_available':
    'The person is verified, but the bureau cannot be asked about them with that verification; verifying again renews it.',
  'payment.not_completed': 'The payment has not succeeded, so that there is nothing to give back.',
  'payment.report_under_way': 'The report is being pulled. Its end decides whether the payment can be given back.',
  'payment.report_released': 'The report that was paid for is released; only an operator gives the payment back.',
  'payment.endpoint_retired': 'The endpoint is retired and must not be used.',

  'report.not_completed': 'Verification must finish first.',
  'report.expired': "The owner's window of 30 days is over; verifying again renews it.",
  'report.too_many_attempts': 'The session was ended by too many wrong answers, and its block is over.',
  'report.consumer_has_not_paid': 'The consumer has not paid for the screening.',
  'report.credit_exhausted': 'The prepaid credit of the account is used up.',
  'report.access_denied': 'Users of this kind have no credit report, or the link to a PDF is good no longer.',
  'report.file_frozen': 'The consumer has frozen the credit file at the bureau, and lifts the freeze there.',
  'report.file_blocked': 'The bureau has blocked the credit file. A report can be had when the block is lifted.',
  'report.no_record': 'The bureau has no record of the person.',
  'report.file_condition': 'The bureau gives no report of the credit file as it is.',
  'report.printer_missing': 'No browser that prints PDFs starts on this machine, or none in its sandbox.',
  'sharing.not_found': 'The report was never shared with this account.',
  'sharing.revoked': 'The consumer has revoked the share.',
  'sharing.already_revoked': 'The share was revoked before, which is for good.',
  'sharing.expired': "The recipient's window of 24 months is over, or the consumer has not consented yet.",

  'income.report_not_ready': 'The income session is not completed.',

  'webhook.endpoint_exists': 'The account has an active or failing webhook endpoint already.',
  'webhook.endpoint_not_found': "No such webhook endpoint or delivery, or not the caller's.",
  'webhook.url_invalid': 'The address is not https, or its host is not public.',
  'webhook.endpoint_disabled': 'The webhook endpoint is disabled.',
  'webhook.redelivery_too_soon': 'The delivery was sent again by hand too recently.',

  'exclusion.invalid': 'What says whether a section is left out of a report is neither true nor false.',
  'vendor.refused': 'The vendor refused what it was asked, in words of its own, which are passed on.',
  'vendor.unreachable': 'The vendor could not be reached, or gave an answer that is none.',
  'party.renter_unknown': 'No renter with this id was registered, or the renter belongs to another account.',
  'party.recipient_unknown': 'No agent or organization with this id was registered, or it belongs to another account.',
  'party.locked': 'Wrong answers have locked the party out for a time.',
  'party.already_confirmed': 'The identity of the party is confirmed and still holds.',
  'party.no_challenge': 'No code or answers of the party are awaited.',
  'party.token_missing': 'The vendor has issued no token for the party.',
  'party.not_confirmed': 'The identity of the renter is not confirmed.',
  'party.recipient_not_authenticated': 'The agent or organization is not authenticated, or not any more.',
  'party.report_not_linked': 'The report of the renter is not linked to this agent or organization.',
  'party.link_over': 'The report was linked to this agent or organization longer ago than it may be seen.',
  'checkout.already_paid': 'The renter has paid within the last 30 days, or for the newest screening session.',
  'checkout.misconfigured': 'The processor refuses what the account is set up with, or the price is below the fee.',
  'checkout.renter_unknown': "A checkout names a renter who was never registered, or is another account's.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Met by callers of the direct API only. The other surfaces have no words for them. */
export type DirectErrorCode = Extract<
  ErrorCode,
  `exclusion.${string}` | `vendor.${string}` | `party.${string}` | `checkout.${string}`
>;
/** Met everywhere else only. */
type PlatformErrorCode = Extract<
  ErrorCode,
  `token.${string}` | `payment.${string}` | `sharing.${string}` | `income.${string}` | `webhook.${string}`
>;
/** What every surface has words for. */
export type CommonErrorCode = Exclude<ErrorCode, DirectErrorCode | PlatformErrorCode>;

/** Refusals that say "not now" about a session or payment: the same request may succeed later, so that no reply with one is kept. */
export const TEMPORARY_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'screening.attempt_in_progress',
  'payment.already_completed',
]);
