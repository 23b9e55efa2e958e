/**
 * What the service writes into the page of the frame when it serves it, as JSON in the content of `<meta name="service-settings">`.
 * None of it is secret.
 */
export interface FrameSettings {
  /** Address of the API, without a trailing slash. */
  readonly apiUrl: string;
  /** Address of the frame. The API refuses the frame's calls from another origin. */
  readonly embeddedUrl: string;
  /** Origins that may embed the frame: those of the publishable key in the query, exactly. */
  readonly allowedOrigins: readonly string[];
  /** The payment processor's browser library, and the key that it takes. */
  readonly processor: { readonly scriptUrl: string; readonly publishableKey: string };
  /** The script of the device-fingerprint collector. */
  readonly fingerprintScriptUrl: string;
}
