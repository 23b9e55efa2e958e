// The SDK's HTTP client. It sends each request through the client of the vendor kit, and gives the SDK only answers in the processor's own form.
import type Stripe from 'stripe';
import { limited } from '../../kernel/with-timeout.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import { type VendorAnswer, isRecord, pauseOf } from '../../vendor-kit/http/answer.js';
import { bearer } from '../../vendor-kit/http/auth.js';
import { VendorClient } from '../../vendor-kit/http/client.js';
import type { Secret } from '../../kernel/vendor-settings.js';
import type { Method, TransportOptions } from '../../vendor-kit/http/transport.js';

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

/** The SDK does not pass on a signal. A request therefore has the number of its call in this header, which is removed before the request is sent. */
const CALL = 'X-Call';

/**
 * The SDK's own client has five faults. The client limits only silence on the socket and reads without limit. A request is repeated after a reset
 * even with retries off. Notices from a server's header are printed. JSON without an `error` is passed on as a success, for any status. Here
 * `timeout` covers the whole exchange, at most 256 kB are read, and a request is sent once. The SDK sees only answers in the processor's own form: an
 * object with 200, an `error` object with 4xx. The client sends the secret, whatever key the SDK has.
 */
export class SdkClient {
  private readonly client: VendorClient;
  /** The calls in progress, by the number in `CALL`. */
  private readonly calls = new Map<string, { readonly call: VendorCall; asked: boolean }>();
  private lastCall = 0;

  constructor({ secretKey, ...options }: TransportOptions & { readonly secretKey: Secret }) {
    // The SDK sets the idempotency key. This class reads every status itself, so none of them counts as a gateway's.
    const dialect = { codeOf: ({ status }: VendorAnswer) => status };
    this.client = new VendorClient({ ...options, auth: bearer(secretKey), dialect, idempotencyHeader: null });
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
      return await ask({ [CALL]: number }, () => underWay.asked);
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
    const { [CALL]: number, ...rest } = given as Readonly<Record<string, unknown>>;
    const underWay = this.calls.get(String(number));
    if (underWay === undefined) throw new Error('The SDK sent a request outside a call');
    underWay.asked = true;
    const { call } = underWay;
    const headers = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
    const request = { method: method as Method, path, headers, ...(method !== 'GET' && { text: body }) };
    const exchange = await limited(timeout, call.signal, (limit) => this.client.exchange(call, request, limit));
    if (exchange.end === 'answered') return new CompleteAnswer(exchange.answer.status, usable(exchange.answer));
    throw new ExchangeFailed(exchange.end === 'not-sent' ? 'unavailable' : exchange.end);
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.client.close();
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
function usable(answer: VendorAnswer): object {
  const { status, body } = answer;
  if (status === 429 || status === 503) throw new ExchangeFailed('unavailable', status, pauseOf(answer));
  if (status >= 500) throw new ExchangeFailed('ambiguous', status);
  const isForm = isRecord(body) && (status === 200 ? !('error' in body) : status >= 400 && isError(body.error));
  if (!isForm) throw new ExchangeFailed('unusable', status);
  return body;
}

function isError(error: unknown): boolean {
  return isRecord(error) && typeof error.type === 'string';
}
