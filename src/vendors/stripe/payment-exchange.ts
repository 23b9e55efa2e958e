// One HTTP exchange with the processor: what the SDK sends its requests through, in place of its own client.
import type Stripe from 'stripe';
import { type Dispatcher, errors, type Pool } from 'undici';
import { limited, within } from '../../kernel/with-timeout.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { failureOf, poolOf, retryAfterOf } from '../../vendor-kit/connection.js';

/** How an exchange without a usable answer ended. */
export type ExchangeEnd =
  /** Nothing was sent, or the processor turned the call away unexecuted. */
  | 'unavailable'
  /** Broken off, or an answer that does not tell whether the call was executed. */
  | 'ambiguous'
  | 'timed-out'
  /** A complete answer that is none of the processor's. */
  | 'unusable';

/** Has no `code`, which the SDK would take as a reason to send the request again by itself. */
export class ExchangeFailed extends Error {
  override readonly name = 'ExchangeFailed';

  constructor(
    readonly end: ExchangeEnd,
    /** Of an answer that came, but was not usable. */
    readonly status?: number,
    readonly retryAfterSeconds?: number,
  ) {
    super(`the exchange with the payment processor ended ${end}`);
  }
}

const MAX_RESPONSE_BYTES = 256 * 1_024;

/** The SDK hands no signal on. A request carries this header up to here, not to the processor. */
const CALL = 'X-Call';

/**
 * The SDK's own client counts only silence on the socket, reads without bound, sends a request again after a reset even
 * with retries off, prints notices that a server puts into a header, and hands JSON without an `error` on as success
 * whatever its status. Here `timeout` is over the whole exchange, 256 kB are read at most, a request is sent once, and the
 * SDK gets to see only answers in the processor's own shape: an object with 200, an `error` object with 4xx.
 */
export class BoundedExchange {
  private readonly pool: Pool;
  private readonly prefix: string;
  /** Of the calls under way, by the number in `CALL`. */
  private readonly calls = new Map<string, { readonly call: VendorCall; asked: boolean }>();
  private lastCall = 0;

  /** A path in `baseUrl` is kept as prefix. */
  constructor(baseUrl: string, timeoutMs: number, connections: number) {
    const { origin, pathname } = new URL(baseUrl);
    this.prefix = pathname.replace(/\/+$/, '');
    this.pool = poolOf(origin, connections, timeoutMs, MAX_RESPONSE_BYTES);
  }

  /** The requests that `ask` sends with these headers end when the call's signal says so. `isAsked`: whether the SDK has come to send one. */
  async until<Value>(
    call: VendorCall,
    ask: (headers: Readonly<Record<string, string>>, isAsked: () => boolean) => Promise<Value>,
  ): Promise<Value> {
    const number = String(++this.lastCall);
    const underWay = { call, asked: false };
    this.calls.set(number, underWay);
    try {
      return await ask({ [CALL]: number }, () => underWay.asked);
    } finally {
      this.calls.delete(number);
    }
  }

  getClientName(): string {
    return 'undici';
  }

  async makeRequest(
    _host: string,
    _port: string,
    path: string,
    method: string,
    { [CALL]: number, ...headers }: Readonly<Record<string, string | number | readonly string[]>>,
    body: string,
    _protocol: string,
    timeout: number,
  ): Promise<Stripe.HttpClientResponse> {
    const underWay = this.calls.get(String(number));
    if (underWay) underWay.asked = true;
    const call = underWay?.call;
    // The pool lets an aborted request wait for a connection before it gives it up unsent; the limit does not wait for that.
    try {
      const answer = await limited(timeout, call?.signal, (limit) =>
        within(limit, this.request(path, method, headers, body, limit), timedOut),
      );
      call?.onEnd?.(String(answer.getStatusCode()));
      return answer;
    } catch (error) {
      const { status, end, retryAfterSeconds } = error instanceof ExchangeFailed ? error : { end: 'not-sent' };
      call?.onEnd?.(String(status ?? end), retryAfterSeconds);
      throw error;
    }
  }

  /** Lets calls under way end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private async request(
    path: string,
    method: string,
    headers: Readonly<Record<string, string | number | readonly string[]>>,
    body: string,
    signal: AbortSignal,
  ): Promise<Stripe.HttpClientResponse> {
    try {
      const response = await this.pool.request({
        path: this.prefix + path,
        method: method === 'POST' ? 'POST' : 'GET',
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        body: method === 'POST' ? body : null,
        signal,
      });
      return new CompleteAnswer(response.statusCode, usable(response, await response.body.text()));
    } catch (error) {
      if (error instanceof ExchangeFailed || error instanceof errors.InvalidArgumentError) throw error;
      if (signal.aborted) throw new ExchangeFailed('timed-out');
      const failure = failureOf(error);
      throw new ExchangeFailed(failure === 'not-sent' ? 'unavailable' : failure);
    }
  }
}

/** Read to its end before the SDK sees it. None of its headers is handed on. */
class CompleteAnswer implements Stripe.HttpClientResponse {
  constructor(
    private readonly status: number,
    private readonly body: object,
  ) {}

  getStatusCode(): number {
    return this.status;
  }

  getHeaders(): Record<string, string> {
    return {};
  }

  getRawResponse(): { statusCode: number } {
    return { statusCode: this.status };
  }

  toStream(): never {
    throw new ExchangeFailed('unusable');
  }

  async toJSON(): Promise<object> {
    return this.body;
  }
}

/** The body of an answer that the SDK may read. */
function usable(response: Dispatcher.ResponseData, text: string): object {
  const { statusCode: status } = response;
  if (status === 429 || status === 503) throw new ExchangeFailed('unavailable', status, retryAfterOf(response));
  if (status >= 500) throw new ExchangeFailed('ambiguous', status);
  const body = parsed(text);
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw new ExchangeFailed('unusable', status);
  const isError =
    'error' in body &&
    body.error !== null &&
    typeof body.error === 'object' &&
    'type' in body.error &&
    typeof body.error.type === 'string';
  if (status === 200 ? 'error' in body : status < 400 || !isError) throw new ExchangeFailed('unusable', status);
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an answer too, though not a usable one.
    return null;
  }
}

function timedOut(): never {
  throw new ExchangeFailed('timed-out');
}
