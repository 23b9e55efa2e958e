// Sends a signed event to a receiver. Adapter: `https`, run by the delivery worker.

/** The request to send. The bytes of the body are signed and sent unchanged. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type WebhookErrorCode =
  'TIMEOUT' | 'DNS_FAILURE' | 'CONNECTION_FAILED' | 'TLS_ERROR' | 'REDIRECT' | 'HTTP_STATUS' | 'BLOCKED_ADDRESS';

export interface WebhookAnswer {
  /** Null: the receiver answered 2xx in time. */
  readonly errorCode: WebhookErrorCode | null;
  /** Null if no status line arrived. */
  readonly httpStatus: number | null;
  /** Whole milliseconds from the start to the verdict. */
  readonly latencyMs: number;
  /** The first 4 KB of the answer's body as text, without control characters and without text that looks like a secret. */
  readonly responseExcerpt: string | null;
}

/**
 * Sends once, and never follows a redirect. When an address does not answer, it tries the next address of the name, unless it has sent something
 * already. A reused connection that ends before the first byte of an answer is replaced once, so the request may arrive twice. One time limit
 * includes name lookup, connecting, headers and body. Interim answers (1xx) are ignored, and at most 4 KB of an answer's body are read. The sender
 * uses only `https`, TLS 1.2 or later with a valid certificate, and only public addresses (docs/contract/webhooks.md#addresses). The address is
 * checked before connecting, pinned, and checked again on the connection. A failure is returned as a value, never thrown. Nothing is logged.
 */
export abstract class WebhookSender {
  abstract send(request: WebhookRequest): Promise<WebhookAnswer>;
}

/** The reason why an address is refused as an endpoint; null if it is accepted. */
export abstract class WebhookAddressRules {
  /** Looks up names. A host is refused if it does not resolve, or if it resolves to an address that is not public. Never throws. */
  abstract faultOf(url: string): Promise<string | null>;
}
