// Every named reason for which something may not happen. How each door says it is in `errors/`.

/** Keyed by `<area>.<condition>`; the text says what is the case, for those who read code and generated documents. */
export const CONDITIONS = {
  'request.invalid': 'The request does not have the documented form.',
  'request.unauthenticated': 'Authentication is missing, invalid or bound to another origin.',
  'request.forbidden': 'The caller is known but may not do this.',
  'request.not_found': 'No such thing, or not the caller\'s: the two cannot be told apart.',
  'request.not_acceptable': 'None of the media types the caller accepts can be served.',
  'request.too_large': 'The request body is larger than the limit.',
  'request.rate_limited': 'Too many requests; the reply says when to come back.',
  'request.plain_http': 'The request did not arrive over TLS.',
  'request.idempotency_key_reused': 'The idempotency key was used with another body before.',
  'service.failure': 'A fault of the service itself.',
  'service.unavailable': 'The service or the vendor behind it cannot answer now; nothing was changed.',
  'service.upstream_timeout': 'The vendor did not answer in time; nothing was changed.',

  'token.key_missing': 'The token exchange has no publishable key.',
  'token.key_invalid': 'The publishable key is malformed or unknown.',
  'token.rate_limited': 'The publishable key has used up its exchanges of this minute.',
  'token.key_inactive': 'The publishable key was deactivated.',
  'token.origin_missing': 'The token exchange has no Origin header.',
  'token.origin_not_allowed': 'The origin is not in the key\'s list.',
  'token.billing_not_configured': 'A live key of an account with neither a prepaid billing customer nor a connected payment account.',
  'token.failure': 'An unexpected fault during the token exchange.',

  'screening.field_format': 'A field does not follow its format.',
  'screening.ssn_missing': 'A field that the report needs, such as the SSN, is missing.',
  'screening.ssn_malformed': 'The SSN is not nine digits.',
  'screening.birth_date_impossible': 'The birth date is no real date or says more than 120 years.',
  'screening.minor': 'The person is under 18.',
  'screening.address_refused': 'The vendor cannot verify the address.',
  'screening.otp_unusable': 'The one-time code is malformed, or codes are not offered in this session.',
  'screening.kba_unusable': 'The answers are malformed, incomplete or foreign, or questions are not offered in this session.',
  'screening.person_blocked': 'The person is locked out or was refused.',
  'screening.too_many_resends': 'The session has used up its SMS codes.',
  'screening.already_registered': 'The person has a completed screening with an unexpired report.',
  'screening.session_spent': 'The session is over or already used; a new verification is needed.',
  'screening.report_expired': 'The vendor\'s file on the person is too old; verifying again renews it.',
  'screening.identity_not_found': 'The identity could not be verified.',
  'screening.product_not_enabled': 'The account may not screen this kind of user.',
  'screening.account_not_provisioned': 'The account is not provisioned for live vendor traffic.',
  'screening.attempt_in_progress': 'Another answer of this session is with the vendor.',
  'screening.resend_too_early': 'The last SMS code is too recent.',
} as const;

export type Condition = keyof typeof CONDITIONS;
