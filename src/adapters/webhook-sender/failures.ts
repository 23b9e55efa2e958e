// Names the failure of a connection for the owner of an endpoint.
import type { WebhookErrorCode } from '../../ports/webhook-sender.js';

/** No connection was made, so nothing was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';

  constructor(readonly errorCode: WebhookErrorCode) {
    super('no connection to the receiver');
  }
}

/** The error codes of the network below TLS. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EMFILE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENFILE',
  'ENOBUFS',
  'EPERM',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * The failure for an error during connecting. If the network is not the cause, TLS is the cause: a certificate, a version, or a server without TLS.
 */
export function notConnected(error: Error): NotConnected {
  if (error instanceof NotConnected) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new NotConnected(NETWORK_CODES.has(code) ? 'CONNECTION_FAILED' : 'TLS_ERROR');
}
