// One HTTP exchange with one server, and its possible ends. The client, the token requests and SDKs send their requests through this class.
import { buildConnector, errors, Pool } from 'undici';
import { machineNow } from '../../kernel/machine-time.js';
import { type Secret, secretOf } from '../../kernel/vendor-settings.js';
import { within } from '../../kernel/with-timeout.js';
import { type VendorAnswer, answerOf } from './answer.js';
import { urlIn } from '../../kernel/url.js';

/** The certificate of the service and its key, and the certificates that the vendor's must come from. All are PEM. Read for each connection. */
export interface ClientCertificate {
  readonly cert: Secret;
  readonly key: Secret;
  readonly ca?: Secret;
}

export interface TransportOptions {
  /** If the address has a path, that path is the prefix of every request's path. */
  readonly baseUrl: string;
  /** Connecting may take half of this time. The caller limits the whole exchange. */
  readonly timeoutMs: number;
  /** The largest number of connections. The default is 128. */
  readonly connections?: number;
  /** A larger answer is unusable. The default is 256 kB. */
  readonly maxAnswerBytes?: number;
  readonly tls?: ClientCertificate;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RawRequest {
  readonly method: Method;
  /** The path with its query, below the path of the address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type Exchange =
  | { readonly end: 'answered'; readonly answer: VendorAnswer }
  | {
      /**
       * `unusable`: a complete answer that is too large. `ambiguous`: the exchange was interrupted, or was invalid below HTTP, when the vendor might
       * already have read the request.
       */
      readonly end: 'unusable' | 'not-sent' | 'ambiguous' | 'timed-out';
      /** The pause that the token endpoint demands, for a request that was not sent. */
      readonly retryAfterSeconds?: number;
    };

/** The connection was never made, so the request was not sent. */
class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** Errors for a complete answer that cannot be used. */
const UNUSABLE_ANSWER: readonly string[] = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW'];
const SMALL_ANSWER_BYTES = 256 * 1_024;
const LONGEST_RETRY_AFTER = 600;

/** Sends each request once. Follows no redirect, limits what it reads and keeps connections open. Returns failures as values. Logs nothing. */
export class Transport {
  private readonly pool: Pool;
  private readonly origin: string;
  private readonly prefix: string;

  constructor({ baseUrl, timeoutMs, connections = 128, maxAnswerBytes = SMALL_ANSWER_BYTES, tls }: TransportOptions) {
    const { origin, pathname } = new URL(baseUrl);
    this.origin = origin;
    this.prefix = pathname.replace(/\/+$/, '');
    this.pool = new Pool(origin, {
      connections,
      pipelining: 1,
      connect: connector(Math.ceil(timeoutMs / 2), tls),
      // The caller's timer limits the whole exchange, so the client's own limits, which only measure silence, are off.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: maxAnswerBytes,
    });
  }

  /** The limit ends the exchange at once. The pool may keep an aborted request until a connection is free, and then drops it unsent. */
  exchange(request: RawRequest, limit: AbortSignal): Promise<Exchange> {
    return within(limit, this.request(request, limit), () => ({ end: 'timed-out' }));
  }

  /** The path on the wire. */
  pathOf(path: string): string {
    return this.prefix + path;
  }

  /** Lets exchanges in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private async request(request: RawRequest, signal: AbortSignal): Promise<Exchange> {
    try {
      const path = this.pathOf(request.path);
      const { statusCode, headers: given, body } = await this.pool.request({ ...request, path, signal });
      const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
      const retryAfterSeconds = secondsOf(headers['retry-after']);
      const location = this.below(headers.location, path);
      const answer = {
        ...answerOf(statusCode, await body.text()),
        headers,
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        ...(location !== undefined && { location }),
      };
      return { end: 'answered', answer };
    } catch (error) {
      return { end: failureOf(error) };
    }
  }

  /** A credential must not be sent to a place that an answer names outside the vendor's address. */
  private below(location: string | undefined, path: string): string | undefined {
    const target = location === undefined ? null : urlIn(location, this.origin + path);
    if (target === null) return undefined;
    const { origin, pathname, search } = target;
    return origin === this.origin && pathname.startsWith(`${this.prefix}/`)
      ? pathname.slice(this.prefix.length) + search
      : undefined;
  }
}

/** Marks every failure before the connection is made: DNS, refusals, TLS, a secret that cannot be read, and the time limit. */
function connector(timeout: number, tls: ClientCertificate | undefined): buildConnector.connector {
  const plain = buildConnector({ timeout });
  return (options, callback) => {
    const failed = (cause: unknown): void => callback(new NotConnected('no connection to the vendor', { cause }), null);
    try {
      const connect = tls
        ? buildConnector({
            timeout,
            cert: secretOf(tls.cert),
            key: secretOf(tls.key),
            ...(tls.ca && { ca: secretOf(tls.ca) }),
          })
        : plain;
      connect(options, (error, socket) => (error === null ? callback(null, socket) : failed(error)));
    } catch (error) {
      failed(error);
    }
  };
}

function failureOf(error: unknown): 'not-sent' | 'unusable' | 'ambiguous' {
  // The pool closes only when no request is in progress. These two errors therefore mean that the pool never accepted the request.
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError) return 'not-sent';
  if (error instanceof NotConnected) return 'not-sent';
  if (error instanceof errors.InvalidArgumentError) throw error;
  return error instanceof errors.UndiciError && UNUSABLE_ANSWER.includes(error.code) ? 'unusable' : 'ambiguous';
}

function secondsOf(said: string | undefined): number | undefined {
  if (said === undefined) return undefined;
  const date = said.endsWith(' GMT') ? Date.parse(said) : NaN;
  const seconds = /^\d+$/.test(said) ? Number(said) : Math.ceil((date - machineNow()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(LONGEST_RETRY_AFTER, Math.max(1, seconds));
}
