// A processor of the sandbox in this process, a receiver for its events, and the actions of a browser and an operator.
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxProcessor } from '../../../src/vendors/stripe/double/processor.js';
import { BrowserFiles } from '../../../sandbox/browser-files.js';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.js';

export const SECRET_KEY = 'sk_test_of_the_tests';
export const EVENT_SECRET = 'whsec_of_the_tests';

export interface ReceivedEvent {
  readonly body: Buffer;
  readonly signature: string;
  readonly event: any;
}

/** Receives events and answers as the test says, by default with 200. */
export class Receiver {
  readonly received: ReceivedEvent[] = [];
  /** The statuses of the next answers. When none is left, the answer is 200. */
  readonly answers: number[] = [];
  private readonly waiting = new Set<() => void>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void bodyOf(request).then((body) => {
        this.received.push({
          body,
          signature: String(request.headers['stripe-signature']),
          event: JSON.parse(body.toString('utf8')),
        });
        response.writeHead(this.answers.shift() ?? 200).end();
        for (const look of this.waiting) look();
      });
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    await listen(server);
    return new Receiver(server);
  }

  get url(): string {
    return urlOf(this.server);
  }

  types(intentId?: string): string[] {
    return this.received
      .filter(
        ({ event }) =>
          intentId === undefined || [event.data.object.id, event.data.object.payment_intent].includes(intentId),
      )
      .map(({ event }) => event.type);
  }

  /** Resolves when the requests until now satisfy the test. */
  async until(enough: () => boolean): Promise<void> {
    if (enough()) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!enough()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
    });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export class ProcessorUnderTest {
  private constructor(
    readonly folder: string,
    readonly receiver: Receiver,
    private readonly settleMs: number,
    private sandbox: RunningSandbox,
  ) {}

  static async start({ settleMs = 1_000 } = {}): Promise<ProcessorUnderTest> {
    const folder = mkdtempSync(join(tmpdir(), 'processor-'));
    const receiver = await Receiver.start();
    return new ProcessorUnderTest(folder, receiver, settleMs, await run(folder, receiver.url, settleMs));
  }

  get url(): string {
    return this.sandbox.url;
  }

  /** Stops the processor and starts it again from the journal, at another address. */
  async restart(between: () => unknown = () => {}): Promise<void> {
    await this.sandbox.close();
    await between();
    this.sandbox = await run(this.folder, this.receiver.url, this.settleMs);
  }

  async stop(): Promise<void> {
    await this.sandbox.close();
    await this.receiver.close();
    rmSync(this.folder, { recursive: true });
  }

  /** A form-encoded POST with the merchant's key, unless `headers` say otherwise. */
  post(
    path: string,
    form: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = asMerchant(),
  ): Promise<WireReply> {
    return reply(
      fetch(this.url + path, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual' }),
    );
  }

  get(path: string, headers: Readonly<Record<string, string>> = asMerchant()): Promise<WireReply> {
    return reply(fetch(this.url + path, { headers, redirect: 'manual' }));
  }

  async control(path: string, body?: object): Promise<any> {
    const post = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${this.url}/control/processor/${path}`, post);
    if (!response.ok) throw new Error(`control ${path} answered ${response.status}`);
    return response.json();
  }

  /** Acts like the browser: with the client secret and without a key of the merchant. */
  confirm(intent: { readonly id: string; readonly clientSecret: string }, paymentMethod: string): Promise<WireReply> {
    return this.post(
      `/v1/payment_intents/${intent.id}/confirm`,
      { payment_method: paymentMethod, client_secret: intent.clientSecret },
      {},
    );
  }

  /** An intent of the merchant. */
  async newIntent(
    form: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ id: string; clientSecret: string; reply: WireReply }> {
    const created = await this.post(
      '/v1/payment_intents',
      { amount: '2500', currency: 'usd', ...form },
      { ...asMerchant(), ...headers },
    );
    return { id: created.body?.id, clientSecret: created.body?.client_secret, reply: created };
  }
}

export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: any;
}

export function asMerchant(key?: string): Record<string, string> {
  return { authorization: `Bearer ${SECRET_KEY}`, ...(key === undefined ? {} : { 'idempotency-key': key }) };
}

async function run(folder: string, url: string, settleMs: number): Promise<RunningSandbox> {
  const processor = new SandboxProcessor({
    folder,
    secretKey: SECRET_KEY,
    events: { url, secret: EVENT_SECRET },
    settleMs,
  });
  return startSandbox({ host: '127.0.0.1', port: 0, parts: [processor, new BrowserFiles()] });
}

async function reply(pending: Promise<Response>): Promise<WireReply> {
  const response = await pending;
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : null,
  };
}

export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
