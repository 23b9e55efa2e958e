// The error codes that the host script itself can cause. The frame's codes are in codes.ts, so that pages do not download their texts.
import type { CallbackPayloads, ComponentErrorCode } from './callbacks.js';

/** `recoverable` is null when the value is unknown. `server` means that the value is true only after a 5xx reply. */
export interface ComponentError {
  readonly message: string;
  readonly recoverable: boolean | null | 'server';
}

export const HOST_ERRORS = {
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
  AUTH_TOKEN_INVALID: { message: 'There is no valid token to submit with.', recoverable: false },
  SYSTEM_CONFIGURATION_ERROR: { message: 'This view is not available for this kind of user.', recoverable: false },
} as const satisfies Partial<Record<ComponentErrorCode, ComponentError>>;

export type HostErrorCode = keyof typeof HOST_ERRORS;

/** The `onError` payload for a code. `status`: the status of the reply that caused the error, if there was a reply. */
export function hostError(code: HostErrorCode, status?: number): CallbackPayloads['onError'] {
  return payloadOf(code, HOST_ERRORS[code], status);
}

export function payloadOf(
  code: ComponentErrorCode,
  { message, recoverable }: ComponentError,
  status = 0,
): CallbackPayloads['onError'] {
  if (recoverable === null) return { code, message };
  return { code, message, recoverable: recoverable === 'server' ? status >= 500 : recoverable };
}
