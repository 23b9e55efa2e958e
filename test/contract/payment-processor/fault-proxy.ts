// A proxy between the adapter and the processor that disturbs exchanges, before or after the processor has executed the
// call.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { bodyOf, listen, urlOf } from './harness.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Lets the processor execute the call, and returns the processor's answer. */
  forward(): Promise<{ readonly status: number; readonly text: string }>;
}

export type Fault = (exchange: Exchange) => unknown;

const answer = (
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Record<string, string> = {},
): void => {
  response
    .writeHead(status, { 'content-type': type, 'content-length': String(Buffer.byteLength(text)), ...headers })
    .end(text);
};
const json = (response: ServerResponse, status: number, body: unknown): void =>
  answer(response, status, 'application/json', JSON.stringify(body));
const reset = ({ request }: Exchange): void => void request.socket.resetAndDestroy();

export const FAULTS = {
  passes: async (exchange) => {
    const { status, text } = await exchange.forward();
    answer(exchange.response, status, 'application/json', text);
  },
  'delivers the call twice': async (exchange) => {
    await exchange.forward();
    const { status, text } = await exchange.forward();
    answer(exchange.response, status, 'application/json', text);
  },
  'resets the connection before the call is executed': reset,
  'resets the connection after the call was executed': async (exchange) => {
    await exchange.forward();
    reset(exchange);
  },
  'never answers, and executes nothing': () => {},
  'executes the call and never answers': (exchange) => exchange.forward(),
  'answers byte by byte': async (exchange) => {
    const { text } = await exchange.forward();
    exchange.response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    let sent = 0;
    const drip = setInterval(() => exchange.response.write(text.slice(sent, (sent += 1))), 20);
    exchange.response.on('close', () => clearInterval(drip));
  },
  'cuts the answer off': async (exchange) => {
    const { text } = await exchange.forward();
    exchange.response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    exchange.response.write(text.slice(0, 100), () => exchange.request.socket.destroy());
  },
  'answers 200 with a page': async (exchange) => {
    await exchange.forward();
    answer(exchange.response, 200, 'text/html', '<!doctype html><title>Welcome</title>');
  },
  'answers 200 with half of the JSON': async (exchange) => {
    const { text } = await exchange.forward();
    answer(exchange.response, 200, 'application/json', text.slice(0, 100));
  },
  'answers 200 with too much': async (exchange) => {
    const { text } = await exchange.forward();
    answer(
      exchange.response,
      200,
      'application/json',
      JSON.stringify({ ...JSON.parse(text), filler: 'x'.repeat(1_000_000) }),
    );
  },
  'redirects to a login': (exchange) =>
    answer(exchange.response, 302, 'text/html', '<!doctype html>', { location: '/login' }),
  'redirects the call elsewhere': (exchange) =>
    answer(exchange.response, 307, 'text/html', '', { location: '/v1/elsewhere' }),
  'answers 429': (exchange) =>
    json(exchange.response, 429, {
      error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Slow down.' },
    }),
  'answers 429 with a page': (exchange) => answer(exchange.response, 429, 'text/html', '<!doctype html>'),
  'answers 500': (exchange) =>
    json(exchange.response, 500, { error: { type: 'api_error', message: 'Something went wrong.' } }),
  'answers 500 after the call was executed': async (exchange) => {
    await exchange.forward();
    json(exchange.response, 500, { error: { type: 'api_error', message: 'Something went wrong.' } });
  },
  'is a gateway that lost the processor': async (exchange) => {
    await exchange.forward();
    answer(exchange.response, 502, 'text/html', '<!doctype html><title>Bad gateway</title>');
  },
  'answers 503': (exchange) => json(exchange.response, 503, { error: { type: 'api_error', message: 'Down.' } }),
  'answers 400 with JSON without an error': (exchange) =>
    json(exchange.response, 400, {
      id: 'pi_000000',
      object: 'payment_intent',
      status: 'succeeded',
      message: 'nonsense',
    }),
  'answers 404 with JSON without an error': (exchange) => json(exchange.response, 404, { message: 'no route' }),
  'answers 404 with a foreign error': (exchange) => json(exchange.response, 404, { error: 'not found' }),
  'answers 200 with an error': (exchange) =>
    json(exchange.response, 200, { error: { type: 'card_error', code: 'card_declined', message: 'No.' } }),
  'answers 200 with nothing': (exchange) => json(exchange.response, 200, {}),
  'answers 200 with null': (exchange) => json(exchange.response, 200, null),
  'answers 200 with another object': (exchange) =>
    json(exchange.response, 200, { id: 'ch_000000', object: 'charge', status: 'succeeded' }),
  'answers 200 with another intent': async (exchange) => {
    const { text } = await exchange.forward();
    json(exchange.response, 200, { ...JSON.parse(text), id: 'pi_000000', metadata: { transaction_id: 'txn_other' } });
  },
  'answers 200 with an invalid amount': async (exchange) => {
    const { text } = await exchange.forward();
    json(exchange.response, 200, { ...JSON.parse(text), amount_received: '25.00' });
  },
  'answers 200 with an unknown status': async (exchange) => {
    const { text } = await exchange.forward();
    json(exchange.response, 200, { ...JSON.parse(text), status: 'paid_in_full' });
  },
  'answers 201': async (exchange) => {
    const { text } = await exchange.forward();
    json(exchange.response, 201, JSON.parse(text));
  },
  'sends a notice to print in a header': async (exchange) => {
    const { text } = await exchange.forward();
    answer(exchange.response, 200, 'application/json', text, {
      'stripe-notice': 'print this',
      'stripe-should-retry': 'true',
    });
  },
  'knows neither the key nor the account': (exchange) =>
    json(exchange.response, 401, {
      error: { type: 'invalid_request_error', message: 'Invalid API key: sk_test_****' },
    }),
  'names an invalid code': (exchange) =>
    json(exchange.response, 400, {
      error: { type: 'invalid_request_error', code: 'Jo Q. Example, jo@example.test', message: 'x' },
    }),
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;

export class FaultProxy {
  /** The headers of every request, in order. */
  readonly seen: IncomingMessage['headers'][] = [];
  /** The form of the last request. */
  form = new URLSearchParams();
  private fault: Fault = FAULTS.passes;
  private times = Number.POSITIVE_INFINITY;

  private constructor(
    private readonly server: Server,
    target: () => string,
  ) {
    server.on('request', (request, response) => {
      this.seen.push(request.headers);
      const fault = this.times > 0 ? this.fault : FAULTS.passes;
      this.times -= 1;
      void bodyOf(request).then((body) => {
        this.form = new URLSearchParams(body.toString());
        const {
          host: _host,
          connection: _connection,
          'content-length': _length,
          ...headers
        } = request.headers as Record<string, string>;
        const forward: Exchange['forward'] = async () => {
          const forwarded = await fetch(`${target()}${request.url ?? ''}`, {
            method: request.method ?? 'GET',
            headers,
            ...(request.method === 'POST' ? { body: new Uint8Array(body) } : {}),
          });
          return { status: forwarded.status, text: await forwarded.text() };
        };
        return fault({ request, response, forward });
      });
    });
  }

  static async start(target: () => string): Promise<FaultProxy> {
    const server = createServer();
    await listen(server);
    return new FaultProxy(server, target);
  }

  get url(): string {
    return urlOf(this.server);
  }

  /** Sets the fault from now on, or only for the next requests. */
  play(name: FaultName, times = Number.POSITIVE_INFINITY): void {
    this.fault = FAULTS[name];
    this.times = times;
    this.seen.length = 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
