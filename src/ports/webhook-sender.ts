// Carries a signed event to a receiver. Adapter: `https`, run by the delivery worker.

/** What is sent; the bytes of the body are signed and sent as they are. */
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
  /** Null when no status line came. */
  readonly httpStatus: number | null;
  /** Whole milliseconds from the start to the verdict. */
  readonly latencyMs: number;
  /** The first 4 KB of the answer's body as text, without control characters and without anything like a secret. */
  readonly responseExcerpt: string | null;
}

/**
 * Sends once, never after a redirect. While nothing is sent, it goes on to the next address of the name. A connection that stood before and ends
 * before the first byte of an answer is replaced once, so the request may arrive twice. One time limit covers name lookup, connecting,
 * headers and body; answers before the answer (1xx) are passed over, and an answer's body is read up to 4 KB and no further. Only `https`, TLS 1.2 or
 * later with a certificate that verifies, only to public addresses (docs/contract/webhooks.md#addresses): checked before connecting,
 * pinned, and checked again on the connection. Trouble is a value, never an exception. Nothing of it is logged.
 */
export abstract class WebhookSender {
  abstract send(request: WebhookRequest): Promise<WebhookAnswer>;
}

/** Why an address cannot be taken as an endpoint; null when it can. */
export abstract class WebhookAddressRules {
  /** Looks names up: a host that does not resolve, or resolves to anything that is not public, is refused. Never throws. */
  abstract faultOf(url: string): Promise<string | null>;
}
