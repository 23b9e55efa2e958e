// The sandbox's processor as part of the process: the default address for its events, and that a kill loses nothing
// that it has acknowledged.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, expect, it } from '@jest/globals';
import { StripeWebhookEvents } from '../../../src/vendors/stripe/webhook-events.js';
import { StripePaymentProcessor } from '../../../src/vendors/stripe/payment.js';
import { bodyOf, listen, urlOf } from './harness.js';
import { aCharge, intentOf, newCall, newNames } from './suite.js';

const folder = mkdtempSync(join(tmpdir(), 'processor-process-'));
const MAIN = ['dist/sandbox/main.js'];
const children: ChildProcess[] = [];

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
});

afterAll(() => rmSync(folder, { recursive: true }));

async function start(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, MAIN, {
    env: { SANDBOX_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

it.each(['PORT', 'INTERNAL_PORT'])(
  'sends its events to %s of the service, and after kill -9 also the events that it could not send',
  async (name) => {
    const service = createServer();
    await listen(service);
    const settled = new Promise<{ path: string; type: string; intentId: string | null }>((resolve) => {
      service.on('request', (request, response) => {
        void bodyOf(request).then((body) => {
          response.writeHead(up ? 200 : 503).end();
          const notice = new StripeWebhookEvents(['whsec_sandbox_processor_events']).read(
            body,
            String(request.headers['stripe-signature']),
            new Date(),
          );
          if (up && notice?.type === 'payment_intent.succeeded')
            resolve({ path: request.url ?? '', type: notice.type, intentId: notice.intentId });
        });
      });
    });
    let up = false;
    const env = { DATA_DIR: mkdtempSync(join(folder, 'data-')), PORT: '1', [name]: new URL(urlOf(service)).port };
    const first = await start(env);
    const open = ({ url }: { url: string }): StripePaymentProcessor =>
      new StripePaymentProcessor({ secretKey: 'sk_test_sandbox_processor', baseUrl: url, timeoutMs: 5_000 });
    let processor = open(first);
    const [call, names] = [newCall(), newNames()];
    const intent = intentOf(await processor.createIntent(call, aCharge(), names));
    const confirmed = await fetch(`${first.url}/v1/payment_intents/${intent.id}/confirm`, {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_usBankAccount', client_secret: intent.clientSecret }),
    });
    expect(((await confirmed.json()) as { status: string }).status).toBe('processing');
    await end(first.child, 'SIGKILL');
    await processor.close();
    up = true;
    processor = open(await start(env));
    expect(await settled).toEqual({
      path: '/internal/processor/events',
      type: 'payment_intent.succeeded',
      intentId: intent.id,
    });
    expect(intentOf(await processor.retrieveIntent(newCall(), intent.id))).toMatchObject({
      status: 'succeeded',
      receivedCents: 2_500,
      transactionId: names.transactionId,
    });
    expect(intentOf(await processor.createIntent(call, aCharge(), names)).id).toBe(intent.id);
    await processor.close();
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  },
);
