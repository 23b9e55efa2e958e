// Connections to a vendor, and what is known of a call when a connection fails.
import { buildConnector, type Dispatcher, errors, Pool } from 'undici';

/** The connection was never made, so nothing was sent. */
class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** Errors of a complete, but unusable answer. */
const UNUSABLE_ANSWER: readonly string[] = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW'];

/** The time limit over a whole exchange is the caller's; a connection gets half of it. */
export function poolOf(origin: string, connections: number, timeoutMs: number, maxResponseSize: number): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connect: connector(Math.ceil(timeoutMs / 2)),
    // One timer of the caller covers all of it; these would only count silence.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize,
  });
}

/** Marks whatever goes wrong before a connection stands; DNS, refusals, TLS and the limit for connecting alike. */
function connector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(new NotConnected('no connection to the vendor', { cause: error }), null);
    });
  };
}

/** `ambiguous`: broken off, or garbled below HTTP, after the request may have been read. */
export function failureOf(error: unknown): 'not-sent' | 'unusable' | 'ambiguous' {
  // The pool is closed only when nothing is under way any more, so these two are about requests it never took.
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError) return 'not-sent';
  if (error instanceof NotConnected) return 'not-sent';
  if (error instanceof errors.InvalidArgumentError) throw error;
  return error instanceof errors.UndiciError && UNUSABLE_ANSWER.includes(error.code) ? 'unusable' : 'ambiguous';
}

const LONGEST_RETRY_AFTER = 600;

/** Of an answer with 429 or 503 that says it, in seconds or as a date: whole seconds from 1 to 600. */
export function retryAfterOf({ statusCode, headers }: Dispatcher.ResponseData): number | undefined {
  const said = headers['retry-after'];
  if ((statusCode !== 429 && statusCode !== 503) || typeof said !== 'string') return undefined;
  const date = said.endsWith(' GMT') ? Date.parse(said) : NaN;
  const seconds = /^\d+$/.test(said) ? Number(said) : Math.ceil((date - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(LONGEST_RETRY_AFTER, Math.max(1, seconds));
}
