// One HTTP exchange with the processor. The SDK sends its requests through this class instead of its own client.
import type Stripe from 'stripe';
import { type Dispatcher, errors, type Pool } from 'undici';
import { limited, within } from '../../kernel/with-timeout.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { behaviourHeader, failureOf, poolOf, retryAfterOf } from '../../vendor-kit/connection.js';

type Headers = Readonly<Record<string, string | number | readonly string[]>>;

/** The end of an exchange without a usable answer. */
export type ExchangeEnd =
  /** The request was not sent, or the processor rejected it without executing it. */
  | 'unavailable'
  /** The exchange was interrupted, or its answer does not tell whether the call was executed. */
  | 'ambiguous'
  | 'timed-out'
  /** A complete answer that does not have the processor's form. */
  | 'unusable';

/** This error has no `code`, because the SDK would repeat the request if it saw one. */
export class ExchangeFailed extends Error {
  override readonly name = 'ExchangeFailed';

  constructor(
    readonly end: ExchangeEnd,
    /** The status of an unusable answer. */
    readonly status?: number,
    readonly retryAfterSeconds?: number,
  ) {
    super(`the exchange with the payment processor ended ${end}`);
  }
}

const MAX_RESPONSE_BYTES = 256 * 1_024;

/** The SDK does not pass on a signal. A request therefore has the number of its call in this header, which is removed before the request is sent. */
const CALL = 'X-Call';

/**
 * The SDK's own client has five faults. The client limits only silence on the socket and reads without limit. A request is repeated after a reset
 * even with retries off. Notices from a server's header are printed. JSON without an `error` is passed on as a success, for any status. Here
 * `timeout` covers the whole exchange, at most 256 kB are read, and a request is sent once. The SDK sees only answers in the processor's own form: an
 * object with 200, an `error` object with 4xx.
 */
export class BoundedExchange {
  private readonly pool: Pool;
  private readonly prefix: string;
  /** The calls in progress, by the number in `CALL`. */
  private readonly calls = new Map<string, { readonly call: VendorCall; asked: boolean }>();
  private lastCall = 0;

  /** A path in `baseUrl` is the prefix of every path. */
  constructor(baseUrl: string, timeoutMs: number, connections: number) {
    const { origin, pathname } = new URL(baseUrl);
    this.prefix = pathname.replace(/\/+$/, '');
    this.pool = poolOf(origin, connections, timeoutMs, MAX_RESPONSE_BYTES);
  }

  /** Ends the requests that `ask` sends with these headers when the call's signal aborts. `isAsked`: whether the SDK has sent one. */
  async until<Value>(
    call: VendorCall,
    ask: (headers: Readonly<Record<string, string>>, isAsked: () => boolean) => Promise<Value>,
  ): Promise<Value> {
    const number = String(++this.lastCall);
    const underWay = { call, asked: false };
    this.calls.set(number, underWay);
    try {
      return await ask({ [CALL]: number, ...behaviourHeader(call) }, () => underWay.asked);
    } finally {
      this.calls.delete(number);
    }
  }

  getClientName(): string {
    return 'undici';
  }

  async makeRequest(
    ...[, , path, method, given, body, , timeout]: Parameters<Stripe.HttpClient['makeRequest']>
  ): Promise<Stripe.HttpClientResponse> {
    const { [CALL]: number, ...headers } = given as Headers;
    const underWay = this.calls.get(String(number));
    if (underWay) underWay.asked = true;
    const call = underWay?.call;
    // The limit ends the exchange at once. The pool may still hold an aborted request until a connection is free, and then drops the request without
    // sending it.
    try {
      const answer = await limited(timeout, call?.signal, (limit) =>
        within(limit, this.request(path, headers, method === 'POST' ? body : null, limit), timedOut),
      );
      call?.onEnd?.(String(answer.getStatusCode()));
      return answer;
    } catch (error) {
      const { status, end, retryAfterSeconds } = error instanceof ExchangeFailed ? error : { end: 'not-sent' };
      call?.onEnd?.(String(status ?? end), retryAfterSeconds);
      throw error;
    }
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private async request(
    path: string,
    headers: Headers,
    body: string | null,
    signal: AbortSignal,
  ): Promise<Stripe.HttpClientResponse> {
    try {
      const response = await this.pool.request({
        path: this.prefix + path,
        method: body === null ? 'GET' : 'POST',
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        body,
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

/** An answer that was read to its end before the SDK gets it. No header of the answer is passed on. */
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
  if (status === 200 ? 'error' in body : status < 400 || !isError(body)) throw new ExchangeFailed('unusable', status);
  return body;
}

function isError(body: object): boolean {
  return (
    'error' in body &&
    body.error !== null &&
    typeof body.error === 'object' &&
    'type' in body.error &&
    typeof body.error.type === 'string'
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An answer that is not JSON is complete, but not usable.
    return null;
  }
}

function timedOut(): never {
  throw new ExchangeFailed('timed-out');
}
