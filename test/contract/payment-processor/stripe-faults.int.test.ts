// The SDK adapter behind a proxy that disturbs exchanges: the verdict of each operation, and that a repeated call
// creates nothing twice.
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { StripePaymentProcessor } from '../../../src/vendors/stripe/payment.js';
import type { IntentVerdict, PaymentProcessor } from '../../../src/ports/payment-processor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { type FaultName, FaultProxy } from './fault-proxy.js';
import { ProcessorUnderTest, SECRET_KEY } from './harness.js';
import { aCharge, intentOf, newCall, newNames } from './suite.js';
import { until } from '../../support/eventually.js';

const TIMEOUT_MS = 200;

let sandbox: ProcessorUnderTest;
let proxy: FaultProxy;
/** The limit is longer than a test may take. A call that waits for the limit unnecessarily fails the test. */
let adapter: StripePaymentProcessor;
/** An adapter whose calls are meant to reach the time limit. */
let impatient: StripePaymentProcessor;

beforeAll(async () => {
  sandbox = await ProcessorUnderTest.start();
  proxy = await FaultProxy.start(() => sandbox.url);
  adapter = new StripePaymentProcessor({
    secretKey: SECRET_KEY,
    baseUrl: proxy.url,
    timeoutMs: 120_000,
    pausesMs: [5, 20, 50],
  });
  impatient = new StripePaymentProcessor({ secretKey: SECRET_KEY, baseUrl: proxy.url, timeoutMs: TIMEOUT_MS });
});

afterAll(async () => {
  await adapter.close();
  await impatient.close();
  await proxy.close();
  await sandbox.stop();
});

type Names = ReturnType<typeof newNames>;
interface Prepared {
  readonly names: Names;
  ask(processor: PaymentProcessor, call: VendorCall): Promise<IntentVerdict>;
}

const OPERATIONS: Readonly<Record<string, () => Promise<Prepared>>> = {
  create: async () => {
    const names = newNames();
    return { names, ask: (processor, call) => processor.createIntent(call, aCharge(), names) };
  },
  change: async () => {
    const names = newNames();
    const { id } = intentOf(await adapter.createIntent(newCall(), aCharge(), names));
    return { names, ask: (processor, call) => processor.changeIntent(call, id, aCharge({ amountCents: 3_100 })) };
  },
  retrieve: async () => {
    const names = newNames();
    const { id } = intentOf(await adapter.createIntent(newCall(), aCharge(), names));
    return { names, ask: (processor, call) => processor.retrieveIntent(call, id) };
  },
};

/** The verdict of an operation while the fault lasts. */
const VERDICTS: readonly (readonly [fault: FaultName, verdict: Partial<IntentVerdict>])[] = [
  ['delivers the call twice', { kind: 'intent' }],
  ['sends a notice to print in a header', { kind: 'intent' }],
  ['resets the connection before the call is executed', { kind: 'timed-out' }],
  ['resets the connection after the call was executed', { kind: 'timed-out' }],
  ['never answers, and executes nothing', { kind: 'timed-out' }],
  ['executes the call and never answers', { kind: 'timed-out' }],
  ['answers byte by byte', { kind: 'timed-out' }],
  ['cuts the answer off', { kind: 'timed-out' }],
  ['answers 500', { kind: 'timed-out' }],
  ['answers 500 after the call was executed', { kind: 'timed-out' }],
  ['is a gateway that lost the processor', { kind: 'timed-out' }],
  ['answers 429', { kind: 'unavailable' }],
  ['answers 429 with a page', { kind: 'unavailable' }],
  ['answers 503', { kind: 'unavailable' }],
  ['answers 200 with a page', { kind: 'unintelligible' }],
  ['answers 200 with half of the JSON', { kind: 'unintelligible' }],
  ['answers 200 with too much', { kind: 'unintelligible' }],
  ['redirects to a login', { kind: 'unintelligible' }],
  ['redirects the call elsewhere', { kind: 'unintelligible' }],
  ['answers 400 with JSON without an error', { kind: 'unintelligible' }],
  ['answers 404 with JSON without an error', { kind: 'unintelligible' }],
  ['answers 404 with a foreign error', { kind: 'unintelligible' }],
  ['answers 200 with an error', { kind: 'unintelligible' }],
  ['answers 200 with nothing', { kind: 'unintelligible' }],
  ['answers 200 with null', { kind: 'unintelligible' }],
  ['answers 200 with another object', { kind: 'unintelligible' }],
  ['answers 200 with another intent', { kind: 'unintelligible' }],
  ['answers 200 with an invalid amount', { kind: 'unintelligible' }],
  ['answers 200 with an unknown status', { kind: 'unintelligible' }],
  ['answers 201', { kind: 'unintelligible' }],
  ['knows neither the key nor the account', { kind: 'refused', code: 'invalid_request_error' }],
  ['names an invalid code', { kind: 'refused', code: 'unlisted' }],
];

describe.each(Object.keys(OPERATIONS))('the operation %s, when the processor', (operation) => {
  it.each(VERDICTS)('%s', async (fault, verdict) => {
    proxy.play('passes');
    const { names, ask } = await OPERATIONS[operation]!();
    const call = newCall();
    proxy.play(fault);
    expect(await ask(verdict.kind === 'timed-out' ? impatient : adapter, call)).toMatchObject(verdict);
    if (verdict.kind === 'unintelligible') expect(proxy.seen).toHaveLength(1);
    proxy.play('passes');
    const again = intentOf(await ask(adapter, call));
    expect(again).toMatchObject({
      transactionId: names.transactionId,
      amountCents: operation === 'change' ? 3_100 : 2_500,
    });
    const { intents } = await sandbox.control(`intents?transaction=${names.transactionId}`);
    expect(intents).toMatchObject([{ id: again.id, amount: again.amountCents }]);
    expect((await sandbox.control(`calls?key=${call.attemptId}`)).executed).toBe(operation === 'retrieve' ? 0 : 1);
  });

  it.each([
    'resets the connection before the call is executed',
    'resets the connection after the call was executed',
    'cuts the answer off',
    'answers 500 after the call was executed',
    'is a gateway that lost the processor',
  ] as const)('%s once: the same call then learns the outcome', async (fault) => {
    proxy.play('passes');
    const { ask } = await OPERATIONS[operation]!();
    const call = newCall();
    proxy.play(fault, 1);
    expect(await ask(adapter, call)).toMatchObject({ kind: 'intent' });
    expect(proxy.seen).toHaveLength(2);
    if (operation !== 'retrieve')
      expect(proxy.seen.map((headers) => headers['idempotency-key'])).toEqual([call.attemptId, call.attemptId]);
  });
});

it('a call is timed out, and not unavailable, after a try that the processor may have executed', async () => {
  const names = newNames();
  const down = await FaultProxy.start(() => sandbox.url);
  const processor = new StripePaymentProcessor({ secretKey: SECRET_KEY, baseUrl: down.url, timeoutMs: 2_000 });
  down.play('resets the connection after the call was executed', 1);
  const asking = processor.createIntent(newCall(), aCharge(), names);
  await until('it was asked', () => down.seen.length > 0);
  await down.close();
  expect(await asking).toEqual({ kind: 'timed-out' });
  await processor.close();
});

describe('a creation that the processor always answers with a failure', () => {
  const page = { successUrl: 'https://a.test', cancelUrl: 'https://a.test', description: null, email: null, notes: {} };
  const creations: Readonly<Record<string, (call: VendorCall) => Promise<{ readonly kind: string }>>> = {
    intent: (call) => adapter.createIntent(call, aCharge(), newNames()),
    checkout: (call) => adapter.createCheckout(call, aCharge(), { ...page, reference: newId(), sessionId: newId() }),
  };

  it.each(Object.keys(creations))(
    'is reported as "not made" when the processor has no such object: %s',
    async (kind) => {
      proxy.play('passes');
      const call = newCall();
      await sandbox.control('kept-failures', { calls: 1 });
      expect(await creations[kind]!(call)).toEqual({ kind: 'not-made' });
      expect((await sandbox.control(`calls?key=${call.attemptId}`)).executed).toBe(1);
    },
  );

  it.each(Object.keys(creations))('returns the object when the processor has it: %s', async (kind) => {
    proxy.play('answers 500 after the call was executed', 4);
    expect(await creations[kind]!(newCall())).toMatchObject({ kind });
  });

  it('times out when the adapter cannot look the object up', async () => {
    proxy.play('answers 500');
    expect(await creations.intent!(newCall())).toEqual({ kind: 'timed-out' });
  });
});

it('a call with values that no request can carry is reported as "not made", and nothing is sent', async () => {
  proxy.play('passes');
  expect(await adapter.createIntent(newCall(), aCharge(), { ...newNames(), sessionId: '\ud83d' })).toEqual({
    kind: 'not-made',
  });
  expect(await adapter.createIntent({ ...newCall(), attemptId: 'a\nb' }, aCharge(), newNames())).toEqual({
    kind: 'not-made',
  });
  expect(proxy.seen).toEqual([]);
});

it('a new intent allows only payment methods that do not redirect', async () => {
  proxy.play('passes');
  intentOf(await adapter.createIntent(newCall(), aCharge(), newNames()));
  expect(Object.fromEntries(proxy.form)).toMatchObject({
    'automatic_payment_methods[enabled]': 'true',
    'automatic_payment_methods[allow_redirects]': 'never',
  });
});

it('a call is unavailable when no server listens, the name is unknown, or no connection is established in time', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const ask = async (baseUrl: string): Promise<IntentVerdict> => {
    const processor = new StripePaymentProcessor({ secretKey: SECRET_KEY, baseUrl, timeoutMs: 1_200 });
    const verdict = await processor.retrieveIntent(newCall(), 'pi_1');
    await processor.close();
    return verdict;
  };
  expect(await ask(`https://127.0.0.1:${port}`)).toEqual({ kind: 'unavailable' });
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  expect(await ask(`http://127.0.0.1:${port}`)).toEqual({ kind: 'unavailable' });
  expect(await ask('http://processor.invalid')).toEqual({ kind: 'unavailable' });
});

it('the time limit runs while a call waits for a free connection', async () => {
  proxy.play('never answers, and executes nothing');
  const processor = new StripePaymentProcessor({
    secretKey: SECRET_KEY,
    baseUrl: proxy.url,
    timeoutMs: TIMEOUT_MS,
    connections: 1,
  });
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => processor.retrieveIntent(newCall(), 'pi_1')));
  expect(verdicts).toEqual(Array(20).fill({ kind: 'timed-out' }));
  // Calls whose time limit had passed before their turn were never sent.
  expect(proxy.seen.length).toBeLessThan(20);
  await processor.close();
});

it('calls whose time has passed early leave no requests open, so that the adapter closes at once', async () => {
  proxy.play('never answers, and executes nothing');
  const processor = new StripePaymentProcessor({
    secretKey: SECRET_KEY,
    baseUrl: proxy.url,
    timeoutMs: 600_000,
    connections: 1,
  });
  const over = new AbortController();
  const asked = Array.from({ length: 3 }, () =>
    processor.retrieveIntent({ ...newCall(), signal: over.signal }, 'pi_1'),
  );
  await until('the first one was sent', () => proxy.seen.length === 1);
  over.abort();
  expect(await Promise.all(asked)).toEqual(Array(3).fill({ kind: 'timed-out' }));
  await processor.close();
  expect(proxy.seen).toHaveLength(1);
});

it('an aborted signal ends only its own calls', async () => {
  proxy.play('never answers, and executes nothing', 2);
  const [over, other] = [new AbortController(), new AbortController()];
  const ask = (signal: AbortSignal) => adapter.retrieveIntent({ ...newCall(), signal }, 'pi_1');
  const [first, second] = [ask(over.signal), ask(other.signal)];
  await until('both were sent', () => proxy.seen.length === 2);
  over.abort();
  expect(await first).toEqual({ kind: 'timed-out' });
  expect(await Promise.race([second, Promise.resolve('still under way')])).toBe('still under way');
  other.abort();
  expect(await second).toEqual({ kind: 'timed-out' });
});

it('a request carries the credential and the request id, and nothing about the adapter', async () => {
  proxy.play('passes');
  const call = newCall();
  await adapter.createIntent(call, aCharge(), newNames());
  await adapter.retrieveIntent({ ...call, signal: new AbortController().signal }, 'pi_1');
  expect(proxy.seen).toHaveLength(2);
  for (const headers of proxy.seen) {
    expect(headers).toMatchObject({
      authorization: `Bearer ${SECRET_KEY}`,
      'stripe-version': '2026-10-28.endive',
      'x-request-id': call.correlationId,
    });
    expect(headers['x-stripe-client-telemetry']).toBeUndefined();
    expect(headers['x-call']).toBeUndefined();
    expect(JSON.parse(String(headers['x-stripe-client-user-agent']))).not.toHaveProperty('platform');
  }
});

it('the adapter prints nothing, whatever the processor answers', async () => {
  const printed: unknown[] = [];
  const note = (warning: unknown): void => void printed.push(warning);
  process.on('warning', note);
  proxy.play('sends a notice to print in a header');
  await adapter.createIntent(newCall(), aCharge(), newNames());
  await new Promise(setImmediate);
  process.off('warning', note);
  expect(printed).toEqual([]);
});

it('the path of the base address is a prefix of every request', async () => {
  proxy.play('answers 503');
  const processor = new StripePaymentProcessor({
    secretKey: SECRET_KEY,
    baseUrl: `${sandbox.url}/control/`,
    timeoutMs: 10_000,
  });
  // The processor has nothing below that path. The answer shows that the request was sent there.
  expect(await processor.retrieveIntent(newCall(), 'pi_1')).toEqual({ kind: 'unintelligible' });
  await processor.close();
  expect(proxy.seen).toEqual([]);
});

it.each(['429 Busy', '503 Down'])(
  'the adapter reports after how many seconds the processor accepts another call: %s',
  async (status) => {
    const server = createServer(
      (socket) =>
        void socket.once('data', () =>
          socket.end(`HTTP/1.1 ${status}\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\n{}`),
        ),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}`;
    const processor = new StripePaymentProcessor({ secretKey: SECRET_KEY, baseUrl, timeoutMs: 120_000 });
    try {
      const ends: unknown[][] = [];
      const call = { ...newCall(), onEnd: (...end: unknown[]) => void ends.push(end) };
      const verdict = await processor.createIntent(call, aCharge(), newNames());
      expect(verdict).toEqual({ kind: 'unavailable', retryAfterSeconds: 7 });
      expect(ends).toEqual([[status.slice(0, 3), 7]]);
    } finally {
      await processor.close();
      server.close();
    }
  },
);
