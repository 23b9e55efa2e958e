// Connections to a vendor, and the meaning of a failed connection for its call.
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';
import { machineNow } from '../kernel/machine-time.js';
import type { VendorCall } from '../ports/vendor-call.js';

/** The connection was never made, so the request was not sent. */
class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** Errors for a complete answer that cannot be used. */
const UNUSABLE_ANSWER: readonly string[] = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW'];

/** The caller limits the whole exchange. Connecting may take half of that time. */
export function poolOf(origin: string, connections: number, timeoutMs: number, maxResponseSize: number): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connect: connector(Math.ceil(timeoutMs / 2)),
    // The caller's timer limits the whole exchange, so the client's own limits, which only measure silence, are off.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize,
  });
}

/** Marks every failure before the connection is made: DNS, refusals, TLS and the time limit. */
function connector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new NotConnected('no connection to the vendor', { cause: error }), null);
    });
  };
}

/** `ambiguous`: the exchange was interrupted, or was invalid below HTTP, when the vendor might already have read the request. */
export function failureOf(error: unknown): 'not-sent' | 'unusable' | 'ambiguous' {
  // The pool closes only when no request is in progress. These two errors therefore mean that the pool never accepted the request.
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError) return 'not-sent';
  if (error instanceof NotConnected) return 'not-sent';
  if (error instanceof errors.InvalidArgumentError) throw error;
  return error instanceof errors.UndiciError && UNUSABLE_ANSWER.includes(error.code) ? 'unusable' : 'ambiguous';
}

/** Requests the behaviour from a test vendor. */
export function behaviourHeader({ behaviour }: Pick<VendorCall, 'behaviour'>): Record<string, string> {
  return behaviour === undefined ? {} : { 'x-test-behaviour': behaviour };
}

const LONGEST_RETRY_AFTER = 600;

/** The wait that an answer with 429 or 503 demands, in seconds or as a date. Whole seconds from 1 to 600. */
export function retryAfterOf({ statusCode, headers }: Dispatcher.ResponseData): number | undefined {
  const said = headers['retry-after'];
  if ((statusCode !== 429 && statusCode !== 503) || typeof said !== 'string') return undefined;
  const date = said.endsWith(' GMT') ? Date.parse(said) : NaN;
  const seconds = /^\d+$/.test(said) ? Number(said) : Math.ceil((date - machineNow()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(LONGEST_RETRY_AFTER, Math.max(1, seconds));
}
