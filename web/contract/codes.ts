// The error codes of the component itself, as docs/how-to/embed-the-component.md lists them. An API error keeps the API's own code
// (docs/errors.md).
// A test in test/architecture compares both lists with the documents.
import type { CallbackPayloads } from './callbacks.js';

/** `recoverable` is null when it is unknown. `server`: its value after a 5xx reply. */
export interface ComponentError {
  readonly message: string;
  readonly recoverable: boolean | null | 'server';
}

export const COMPONENT_ERRORS = {
  PAYMENT_REQUIRED: { message: 'The report is not released: payment or credit is missing.', recoverable: false },
  IFRAME_LOAD_FAILED: { message: 'The component could not be loaded.', recoverable: false },
  IFRAME_TIMEOUT: { message: 'The component did not load within 30 seconds.', recoverable: false },
  IFRAME_ERROR: { message: 'The frame of the component could not be created.', recoverable: false },
  TOKEN_EXCHANGE_FAILED: { message: 'The publishable key could not be exchanged for a token.', recoverable: 'server' },
  TOKEN_REFRESH_FAILED: { message: 'The token could not be renewed.', recoverable: 'server' },
  UNKNOWN_ERROR: { message: 'The reply to the token exchange could not be understood.', recoverable: 'server' },
  MISSING_KEY: { message: 'No publishable key was sent.', recoverable: null },
  INVALID_KEY: { message: 'The publishable key is malformed or unknown.', recoverable: null },
  KEY_INACTIVE: { message: 'The publishable key is deactivated.', recoverable: null },
  MISSING_ORIGIN: { message: 'The browser sent no origin.', recoverable: null },
  ORIGIN_NOT_ALLOWED: { message: 'The origin of this page is not in the list of the key.', recoverable: null },
  RATE_LIMITED: { message: 'Too many token exchanges in this minute.', recoverable: null },
  BILLING_NOT_CONFIGURED: { message: 'The account has no billing for live keys.', recoverable: null },
  INTERNAL_ERROR: { message: 'The token exchange failed unexpectedly.', recoverable: null },
  FINGERPRINT_SDK_UNAVAILABLE: { message: 'The device check was loaded, but is not usable.', recoverable: false },
  FINGERPRINT_SCRIPT_LOAD_FAILED: { message: 'The device check could not be loaded.', recoverable: false },
  FINGERPRINT_COLLECTION_FAILED: { message: 'The device check failed.', recoverable: false },
  AUTH_TOKEN_INVALID: { message: 'There is no valid token to submit with.', recoverable: false },
  SCREENING_OTP_RESEND_FAILED: { message: 'No new code could be sent.', recoverable: true },
  SCREENING_KBA_QUESTIONS_MISSING: { message: 'There are no questions to show.', recoverable: true },
  SYSTEM_INTERNAL_ERROR: { message: 'A step failed unexpectedly.', recoverable: false },
  SYSTEM_CONFIGURATION_ERROR: { message: 'This view is not available for this kind of user.', recoverable: false },
  COMPONENT_RENDER_FAILED: { message: 'A step could not be shown.', recoverable: true },
} as const satisfies Record<string, ComponentError>;

export type ComponentErrorCode = keyof typeof COMPONENT_ERRORS;

/** The `onError` payload for a code of the component. `status`: the status of the reply that caused it, if there was one. */
export function componentError(code: ComponentErrorCode, status = 0): CallbackPayloads['onError'] {
  const { message, recoverable } = COMPONENT_ERRORS[code];
  if (recoverable === null) return { code, message };
  return { code, message, recoverable: recoverable === 'server' ? status >= 500 : recoverable };
}
