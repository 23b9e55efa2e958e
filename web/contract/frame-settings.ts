/**
 * The settings that the service writes into the frame's page, as JSON in the content of `<meta name="service-settings">`. The settings contain no
 * secret.
 */
export interface FrameSettings {
  /** Address of the API, without a trailing slash. */
  readonly apiUrl: string;
  /** Address of the frame. The API refuses the frame's calls from any other origin. */
  readonly embeddedUrl: string;
  /** The exact origins that may embed the frame, from the publishable key in the query. */
  readonly allowedOrigins: readonly string[];
  /** The payment processor's browser library, and the publishable key for it. */
  readonly processor: { readonly scriptUrl: string; readonly publishableKey: string };
  /** The script of the device-fingerprint collector. */
  readonly fingerprintScriptUrl: string;
}
