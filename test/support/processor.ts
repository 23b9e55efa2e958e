// The sandbox's payment processor as tests use it. Tests act as the consumer's browser, as the holder of the secret key
// and as the sender of events, and use its controls.
import { createHmac } from 'node:crypto';
import { type Service } from './service.js';
import { until } from './eventually.js';

const SECRET_KEY = 'sk_test_sandbox_processor';
const EVENT_SECRET = 'whsec_sandbox_processor_events';

/** The charges that the processor has really made. Amounts are in cents. */
export interface Money {
  readonly charges: readonly {
    readonly id: string;
    readonly intent: string;
    readonly transaction: string | null;
    readonly status: string;
    readonly amount: number;
    readonly currency: string;
  }[];
  readonly succeeded: number;
  readonly received: number;
  readonly refunded: number;
}

export interface SandboxIntent {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface SandboxEvent {
  readonly id: string;
  readonly type: string;
  readonly intent: string;
  readonly end: 'delivered' | 'dropped' | null;
  readonly attempts: number;
  readonly lastStatus: number | null;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly body: any;
}

/** An event of the service's log as an operator sees it. */
export interface ShownEvent {
  readonly type: string;
  readonly data: any;
  readonly metadata: any;
}

export class Processor {
  constructor(private readonly url: string) {}

  /** Acts as the processor's library in the consumer's browser. */
  confirm(clientSecret: string, paymentMethod: string): Promise<SandboxAnswer> {
    return this.post(`/v1/payment_intents/${intentIn(clientSecret)}/confirm`, {
      client_secret: clientSecret,
      payment_method: paymentMethod,
    });
  }

  authenticate(clientSecret: string, outcome: 'success' | 'failure' = 'success'): Promise<SandboxAnswer> {
    return this.post(`/v1/payment_intents/${intentIn(clientSecret)}/authenticate`, {
      client_secret: clientSecret,
      outcome,
    });
  }

  /** Acts as the holder of the secret key, without the service. */
  create(parameters: Readonly<Record<string, string>>): Promise<SandboxAnswer> {
    return this.post('/v1/payment_intents', { amount: '3500', currency: 'usd', ...parameters }, SECRET_KEY);
  }

  confirmWithKey(intent: string, paymentMethod: string): Promise<SandboxAnswer> {
    return this.post(`/v1/payment_intents/${intent}/confirm`, { payment_method: paymentMethod }, SECRET_KEY);
  }

  cancel(intent: string): Promise<SandboxAnswer> {
    return this.post(`/v1/payment_intents/${intent}/cancel`, {}, SECRET_KEY);
  }

  /** Refunds the given cents, or the whole remaining amount. */
  refund(intent: string, amount?: number): Promise<SandboxAnswer> {
    return this.post(
      '/v1/refunds',
      { payment_intent: intent, ...(amount === undefined ? {} : { amount: String(amount) }) },
      SECRET_KEY,
    );
  }

  money(about: { readonly transaction?: string; readonly intent?: string } = {}): Promise<Money> {
    return this.control(`charges?${query(about)}`);
  }

  /** The number of calls with a key, and how many of them were executed. */
  calls(key: string): Promise<{ readonly received: number; readonly executed: number }> {
    return this.control(`calls?key=${key}`);
  }

  allCalls(): Promise<{
    readonly operations: Readonly<Record<string, { readonly received: number }>>;
    readonly executedTwice: readonly string[];
  }> {
    return this.control('calls');
  }

  async intents(about: { readonly transaction?: string; readonly intent?: string } = {}): Promise<SandboxIntent[]> {
    return (await this.control<{ readonly intents: SandboxIntent[] }>(`intents?${query(about)}`)).intents;
  }

  async events(about: { readonly intent?: string; readonly type?: string } = {}): Promise<SandboxEvent[]> {
    return (await this.control<{ readonly events: SandboxEvent[] }>(`events?${query(about)}`)).events;
  }

  /** Waits until every event of an intent was either delivered or dropped. */
  settled(intent: string): Promise<void> {
    return until('the processor has sent all events', async () =>
      (await this.events({ intent })).every(({ end }) => end !== null),
    );
  }

  /** Makes one attempt to deliver an event now. Returns the status that the receiver answered. */
  async resend(event: string): Promise<number | null> {
    return (await this.control<{ readonly status: number | null }>(`events/${event}/resend`, {})).status;
  }

  control<Answer>(path: string, body?: object): Promise<Answer> {
    const post = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    return fetch(`${this.url}/control/processor/${path}`, post).then(async (response) => {
      if (!response.ok) throw new Error(`control ${path} answered ${response.status}`);
      return (await response.json()) as Answer;
    });
  }

  private async post(path: string, parameters: Readonly<Record<string, string>>, key?: string): Promise<SandboxAnswer> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...(key && { authorization: `Bearer ${key}` }) },
      body: new URLSearchParams(parameters),
    });
    return { status: response.status, body: await response.json() };
  }
}

function query(about: Readonly<Record<string, string>>): string {
  return new URLSearchParams(about).toString();
}

export function intentIn(clientSecret: string): string {
  return clientSecret.slice(0, clientSecret.indexOf('_secret_'));
}

/** The signature header of a body that was signed at a time (seconds since 1970). */
export function signatureOf(
  body: string,
  {
    secret = EVENT_SECRET,
    at = Math.floor(Date.now() / 1_000),
  }: { readonly secret?: string; readonly at?: number } = {},
): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
}

let events = 0;

/** The body of an event about an intent, as the processor writes it. */
export function eventAbout(
  intent: string,
  type = 'payment_intent.succeeded',
  id = `evt_test${process.pid}x${++events}`,
): string {
  return JSON.stringify({
    id,
    object: 'event',
    type,
    created: Math.floor(Date.now() / 1_000),
    livemode: false,
    data: {
      object: {
        id: intent,
        object: 'payment_intent',
        status: 'succeeded',
        amount: 3_500,
        amount_received: 3_500,
        currency: 'usd',
      },
    },
  });
}

/** Every event of a stream, oldest first. Empty if the stream does not exist. */
export async function shownEvents(service: Service, stream: string): Promise<ShownEvent[]> {
  const { exitCode, stdout } = await service.ops('stream', 'show', stream);
  if (exitCode !== 0 && stdout.includes('There is no stream')) return [];
  if (exitCode !== 0) throw new Error(`stream show ${stream} ended ${exitCode}: ${stdout}`);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"'))
    .map((line) => JSON.parse(line));
}

export function paymentStream(transactionId: string): string {
  return `payment-${transactionId.slice('txn_'.length)}`;
}
