// The error codes of the component itself, as docs/how-to/embed-the-component.md lists them. An error of the API keeps the API's code
// (docs/errors.md). A test in test/architecture compares both lists with the documents.
import type { CallbackPayloads, ComponentErrorCode } from './callbacks.js';
import { type ComponentError, HOST_ERRORS, payloadOf } from './host-codes.js';

export const COMPONENT_ERRORS = {
  ...HOST_ERRORS,
  PAYMENT_REQUIRED: { message: 'The report is not released: payment or credit is missing.', recoverable: false },
  FINGERPRINT_SDK_UNAVAILABLE: { message: 'The device check was loaded, but is not usable.', recoverable: false },
  FINGERPRINT_SCRIPT_LOAD_FAILED: { message: 'The device check could not be loaded.', recoverable: false },
  FINGERPRINT_COLLECTION_FAILED: { message: 'The device check failed.', recoverable: false },
  SCREENING_OTP_RESEND_FAILED: { message: 'No new code could be sent.', recoverable: true },
  SCREENING_KBA_QUESTIONS_MISSING: { message: 'There are no questions to show.', recoverable: true },
  SYSTEM_INTERNAL_ERROR: { message: 'A step failed unexpectedly.', recoverable: false },
  COMPONENT_RENDER_FAILED: { message: 'A step could not be shown.', recoverable: true },
} as const satisfies Record<ComponentErrorCode, ComponentError>;

/** The `onError` payload for a code of the component. `status`: the status of the reply that caused the error, if there was a reply. */
export function componentError(code: ComponentErrorCode, status?: number): CallbackPayloads['onError'] {
  return payloadOf(code, COMPONENT_ERRORS[code], status);
}
