// What the sandbox serves to browsers, on a page of another origin whose policy is as strict as that of the component's frame: the
// payment processor's library with its card fields and its authentication step, and the collector of device fingerprints.
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type FrameLocator, type Page } from 'playwright-core';
import { findChromium } from '../../../src/adapters/pdf-renderer/chromium-executable.js';
import { ProcessorUnderTest, listen } from '../../contract/payment-processor/harness.js';
import { executablePath, searchPath } from '../../support/browsers.js';

const KEY = 'pk_test_sandbox_processor';
const WORKS = '4242424242424242';
const DECLINED = '4000000000000002';
const AUTHENTICATION = '4000002500003155';
const AUTHENTICATION_THEN_DECLINED = '4000008400001629';

let sandbox: ProcessorUnderTest;
let browser: Browser;
let host: Server;
let hostOrigin: string;
let page: Page;
/** What the browser's console said, and every request of the page and its frames. */
let said: string[];
let requests: { readonly url: string; readonly body: string | null }[];

beforeAll(async () => {
  const path = findChromium(executablePath, searchPath);
  if (path === null) throw new Error('These tests need Chromium: install it so that it is on the PATH.');
  sandbox = await ProcessorUnderTest.start({ settleMs: 100 });
  host = createServer((request, response) => {
    const script = request.url?.startsWith('/with-script')
      ? `<script src="${sandbox.url}/browser/processor.js"></script>
<script src="${sandbox.url}/browser/fingerprint.js"></script>`
      : '';
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `default-src 'none'; script-src ${sandbox.url}; style-src 'self'; frame-src ${sandbox.url}; require-trusted-types-for 'script'; trusted-types 'none'`,
    });
    response.end(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${script}</head>
<body><main><h1>Host</h1><form><div id="place"></div><button type="button">Pay</button></form></main></body></html>`);
  });
  await listen(host);
  hostOrigin = `http://localhost:${(host.address() as { port: number }).port}`;
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
});

afterEach(() => page?.context().close());

afterAll(async () => {
  await browser.close();
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
  await sandbox.stop();
});

async function open(path = '/with-script', context: BrowserContextOptions = {}): Promise<void> {
  await page?.context().close();
  page = await (await browser.newContext({ locale: 'en-US', ...context })).newPage();
  page.setDefaultTimeout(15_000);
  said = [];
  requests = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`uncaught: ${String(error)}`));
  page.on('request', (request) => requests.push({ url: request.url(), body: request.postData() }));
  await page.goto(hostOrigin + path);
}

interface Mounted {
  readonly key?: string;
  readonly clientSecret: string;
  readonly options?: object;
}

/** As an integrator of the processor does it; resolves when the element is ready, with the error when it cannot be. */
function mount({ key = KEY, clientSecret, options = {} }: Mounted): Promise<any> {
  return page.evaluate(
    async ({ key, clientSecret, options }) => {
      const host = globalThis as any;
      host.events = [];
      host.stripe = host.Stripe(key);
      host.elements = host.stripe.elements({ clientSecret, ...options });
      host.payment = host.elements.create('payment');
      for (const name of ['ready', 'change', 'focus', 'blur', 'escape', 'loaderror'])
        host.payment.on(name, (event: object) => host.events.push([name, event]));
      const outcome = new Promise((resolve) => {
        host.payment.once('ready', () => resolve(null));
        host.payment.once('loaderror', ({ error }: any) => resolve(error));
      });
      host.payment.mount('#place');
      return outcome;
    },
    { key, clientSecret, options },
  );
}

const card = (): FrameLocator => page.frameLocator('#place iframe');
const step = (): FrameLocator => page.frameLocator('dialog iframe');

async function type(number: string, language: 'en' | 'es' = 'en'): Promise<void> {
  const labels = {
    en: ['Card number', 'Expiration date', 'Security code', 'ZIP code'],
    es: ['Número de tarjeta', 'Fecha de vencimiento', 'Código de seguridad', 'Código postal'],
  }[language];
  for (const [index, value] of [number, '1234', '123', '78701'].entries())
    await card()
      .getByLabel(labels[index] as string)
      .fill(value);
}

/** What confirmPayment resolves with. */
const pay = (): Promise<any> =>
  page.evaluate(() => {
    const { stripe, elements } = globalThis as any;
    return stripe.confirmPayment({ elements, redirect: 'if_required' });
  });
/** Of a card whose payment waits for the authentication step. */
async function payAfter(act: () => Promise<void>): Promise<any> {
  const paid = pay();
  await step().getByRole('dialog').waitFor();
  await act();
  return paid;
}

const intent = (id: string): Promise<any> => sandbox.get(`/v1/payment_intents/${id}`).then(({ body }) => body);

describe('the library', () => {
  it('sets one global, needs nothing that a strict policy forbids, and pays', async () => {
    await open('/');
    const before = await page.evaluate(() => Object.keys(globalThis));
    await open();
    const after = await page.evaluate(() => Object.keys(globalThis));
    expect(after.filter((name) => !before.includes(name)).sort()).toEqual(['DeviceFingerprint', 'Stripe']);
    const { id, clientSecret } = await sandbox.newIntent();
    expect(await mount({ clientSecret })).toBeNull();
    await type(WORKS);
    expect(await pay()).toMatchObject({ paymentIntent: { id, status: 'succeeded', amount: 2_500, currency: 'usd' } });
    expect(await intent(id)).toMatchObject({ status: 'succeeded', amount_received: 2_500 });
    expect(said).toEqual([]);
  });

  it('tells of a decline as a result, and the next card pays', async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent({ 'metadata[secret]': 'of the merchant' });
    await mount({ clientSecret });
    for (const [number, code, declineCode] of [
      [DECLINED, 'card_declined', 'generic_decline'],
      ['4000000000009995', 'card_declined', 'insufficient_funds'],
      ['4000000000000069', 'expired_card', undefined],
      ['4000000000000127', 'incorrect_cvc', 'incorrect_cvc'],
      ['4000000000000119', 'processing_error', undefined],
    ] as const) {
      await type(number);
      const { error, paymentIntent } = await pay();
      expect([paymentIntent, error.type, error.code, error.decline_code]).toEqual([
        undefined,
        'card_error',
        code,
        declineCode,
      ]);
      expect(error.payment_intent).toMatchObject({ id, status: 'requires_payment_method' });
      expect(error.payment_intent).not.toHaveProperty('metadata');
      expect(await intent(id)).toMatchObject({ status: 'requires_payment_method', last_payment_error: { code } });
    }
    await type(WORKS);
    expect((await pay()).paymentIntent.status).toBe('succeeded');
    expect((await sandbox.control(`charges?intent=${id}`)).charges).toHaveLength(6);
    await sandbox.receiver.until(() => sandbox.receiver.types(id).includes('payment_intent.succeeded'));
    expect(sandbox.receiver.types(id).filter((each) => each === 'payment_intent.payment_failed')).toHaveLength(5);
  });

  it('lets a payment be processed that takes a while', async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type('4000000000007775');
    expect((await pay()).paymentIntent.status).toBe('processing');
    await sandbox.receiver.until(() => sandbox.receiver.types(id).includes('payment_intent.succeeded'));
    const retrieved = await page.evaluate(
      (secret) => (globalThis as any).stripe.retrievePaymentIntent(secret),
      clientSecret,
    );
    expect(retrieved.paymentIntent).toMatchObject({ id, status: 'succeeded' });
    expect(await page.locator('iframe').count()).toBe(1);
  });

  it('sends the card from its own frame once, and nobody keeps its number', async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type(WORKS);
    await pay();
    const withNumber = requests.filter(({ url, body }) => /4242.?4242.?4242/.test(`${url} ${body}`));
    expect(withNumber.map(({ url }) => url)).toEqual([`${sandbox.url}/v1/payment_intents/${id}/confirm`]);
    expect(await page.evaluate(() => JSON.stringify((globalThis as any).events))).not.toContain('4242');
    for (const file of await readdir(sandbox.folder))
      expect(await readFile(join(sandbox.folder, file), 'utf8')).not.toMatch(/4242.?4242/);
  });
});

describe('the authentication step', () => {
  it.each([
    [AUTHENTICATION, 'Complete', 'succeeded'],
    ['4000000000003220', 'Complete', 'succeeded'],
  ])('of %s, passed with %s, pays', async (number, button, status) => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type(number);
    const { paymentIntent } = await payAfter(() => step().getByRole('button', { name: button }).click());
    expect(paymentIntent).toMatchObject({ id, status });
    expect(await page.locator('dialog').count()).toBe(0);
  });

  it.each([
    ['failed', () => step().getByRole('button', { name: 'Fail' }).click()],
    ['closed from within', () => page.keyboard.press('Escape')],
    ['closed by the page', () => page.evaluate(() => (globalThis as any).document.querySelector('dialog').close())],
  ])('that was %s is an error, and the next card pays', async (_what, act) => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type(AUTHENTICATION);
    const { error } = await payAfter(act);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'payment_intent_authentication_failure',
      payment_intent: { id, status: 'requires_payment_method' },
    });
    expect(await page.locator('dialog').count()).toBe(0);
    await type(WORKS);
    expect((await pay()).paymentIntent.status).toBe('succeeded');
  });

  it('does not help a card that is declined all the same', async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type(AUTHENTICATION_THEN_DECLINED);
    const { error } = await payAfter(() => step().getByRole('button', { name: 'Complete' }).click());
    expect(error).toMatchObject({ type: 'card_error', code: 'card_declined' });
    expect((await intent(id)).status).toBe('requires_payment_method');
  });
});

describe('the collector of device fingerprints', () => {
  it('gives values that the service takes, the same ones every time, and stores nothing', async () => {
    await open();
    const collect = (): Promise<any> => page.evaluate(() => (globalThis as any).DeviceFingerprint.collect());
    const first = await collect();
    expect(first).toEqual({
      jscPayload: expect.stringMatching(/^[ a-zA-Z0-9&._-]{1,4000}$/),
      hdimPayload: expect.stringMatching(/^[ a-zA-Z0-9&._-]{1,4000}$/),
    });
    await page.reload();
    expect(await collect()).toEqual(first);
    expect(await page.context().storageState()).toEqual({ cookies: [], origins: [] });
  });
});
