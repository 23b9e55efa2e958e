// The sandbox's scripts for browsers, on a page of another origin with a policy as strict as that of the component's
// frame. The scripts are the payment processor's library with its card fields and its authentication step, and the
// collector of device fingerprints.
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type FrameLocator, type Page } from 'playwright-core';
import { ProcessorUnderTest, listen } from '../../contract/payment-processor/harness.js';
import { browserArguments, pageBrowser } from '../../support/browsers.js';
import { until } from '../../support/eventually.js';

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
/** The messages of the browser console, and every request of the page and its frames. */
let said: string[];
let requests: { readonly url: string; readonly body: string | null }[];

beforeAll(async () => {
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
  browser = await chromium.launch({ executablePath: pageBrowser, args: browserArguments() });
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

/**
 * Mounts the element in the same way as an integrator of the processor. Resolves when the element is ready, or with the
 * error.
 */
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

const LABELS = {
  en: ['Card number', 'Expiration date', 'Security code', 'ZIP code'],
  es: ['Número de tarjeta', 'Fecha de vencimiento', 'Código de seguridad', 'Código postal'],
};

async function type(number: string, language: 'en' | 'es' = 'en'): Promise<void> {
  for (const [index, value] of [number, '1234', '123', '78701'].entries())
    await card()
      .getByLabel(LABELS[language][index] as string)
      .fill(value);
}

/** The result of `confirmPayment`. */
const pay = (): Promise<any> =>
  page.evaluate(() => {
    const { stripe, elements } = globalThis as any;
    return stripe.confirmPayment({ elements, redirect: 'if_required' });
  });

/**
 * Waits until the authentication step receives the pressed keys. The step takes the focus at once, but the card's frame
 * learns of the focus a little later.
 */
async function stepHasFocus(): Promise<void> {
  await step().locator('button:focus').waitFor();
  const cardFrame = page.frames().find((each) => each.url().includes('payment-element'));
  await until(
    'the card has lost the focus',
    async () => (await cardFrame?.evaluate(() => (globalThis as any).document.hasFocus())) === false,
  );
}

/** Pays with a card whose payment waits for the authentication step. */
async function payAfter(act: () => Promise<void>): Promise<any> {
  const paid = pay();
  await stepHasFocus();
  await act();
  return paid;
}

const intent = (id: string): Promise<any> => sandbox.get(`/v1/payment_intents/${id}`).then(({ body }) => body);

describe('the library', () => {
  it('sets one global, works under a strict policy, and pays', async () => {
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

  it('reports a decline as a result, and a payment with the next card succeeds', async () => {
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

  it('returns a slow payment as processing', async () => {
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

  it("sends the card from its own frame once, and the sandbox does not store the card's number", async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await type(WORKS);
    await pay();
    const withNumber = requests.filter(({ url, body }) => /4242.?4242.?4242/.test(`${url} ${body}`));
    expect(withNumber.map(({ url }) => url)).toEqual([`${sandbox.url}/v1/payment_intents/${id}/confirm`]);
    expect(await page.evaluate(() => JSON.stringify((globalThis as any).events))).not.toMatch(/4242.?4242/);
    for (const file of await readdir(sandbox.folder))
      expect(await readFile(join(sandbox.folder, file), 'utf8')).not.toMatch(/4242.?4242/);
  });
});

describe('the element', () => {
  it.each([
    ["a key that is not the sandbox's", 'pk_test_other', (secret: string) => secret, 'Invalid API Key provided.'],
    ['the client secret of an unknown intent', KEY, () => 'pi_0_secret_0', 'No such payment_intent'],
    ['a wrong client secret', KEY, (secret: string) => `${secret}0`, expect.stringContaining('does not match')],
  ])('reports %s both when it loads and at the payment', async (_what, key, secretOf, message) => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    const error = { type: 'invalid_request_error', message };
    expect(await mount({ key, clientSecret: secretOf(clientSecret) })).toMatchObject(error);
    await type(WORKS);
    expect(await pay()).toMatchObject({ error });
    expect((await intent(id)).status).toBe('requires_payment_method');
  });

  it.each([
    ['no key', `Stripe('')`],
    ['a secret key', `Stripe('sk_test_1')`],
    ['no client secret', `Stripe('${KEY}').elements()`],
    ['another kind of element', `Stripe('${KEY}').elements({ clientSecret: 'pi_1_secret_1' }).create('iban')`],
    ['a place that does not exist', `mounted('#nowhere')`],
    [
      'an element that is not mounted',
      `Stripe('${KEY}').confirmPayment({ elements: created(), redirect: 'if_required' })`,
    ],
  ])('with %s throws an IntegrationError, because the page has made a mistake', async (_what, code) => {
    await open();
    const name = await page.evaluate(`(async () => {
      const created = () => {
        const elements = Stripe('${KEY}').elements({ clientSecret: 'pi_1_secret_1' });
        elements.create('payment');
        return elements;
      };
      const mounted = (place) => created().getElement('payment').mount(place);
      try {
        await ${code};
      } catch ({ name }) {
        return name;
      }
    })()`);
    expect(name).toBe('IntegrationError');
  });

  it('names the missing input to the page and beside each field, and charges nothing', async () => {
    await open();
    const { id, clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    expect(await page.evaluate(() => (globalThis as any).elements.submit())).toMatchObject({
      error: { type: 'validation_error', code: 'incomplete_number' },
    });
    await card().getByText('Your card number is incomplete.').waitFor();
    await card().getByText("Your card's security code is incomplete.").waitFor();
    expect(await card().locator('[aria-invalid=true]').count()).toBe(4);
    await type('4242424242424241');
    await card().getByLabel('Expiration date').fill('0120');
    expect(await pay()).toMatchObject({ error: { type: 'validation_error', code: 'invalid_number' } });
    await card().getByText("Your card's expiration date is in the past.").waitFor();
    expect(await intent(id)).toMatchObject({ status: 'requires_payment_method', last_payment_error: null });
  });

  it('reports when the card is complete, and groups the typed digits as on the card', async () => {
    await open();
    await mount({ clientSecret: (await sandbox.newIntent()).clientSecret });
    /** The latest change event of the page, when it is of this kind. The card's frame reports with a delay. */
    const changeTo = async (wanted: { readonly complete: boolean; readonly empty: boolean }): Promise<any> => {
      const change = await page.waitForFunction((wanted) => {
        const last = (globalThis as any).events.findLast(([name]: any) => name === 'change')?.[1];
        return last?.complete === wanted.complete && last.empty === wanted.empty ? last : null;
      }, wanted);
      return change.jsonValue();
    };
    const number = card().getByLabel('Card number');
    await number.pressSequentially('4242');
    expect(await changeTo({ complete: false, empty: false })).toMatchObject({ elementType: 'payment' });
    await number.pressSequentially('424242424242');
    expect(await number.inputValue()).toBe('4242 4242 4242 4242');
    const expiry = card().getByLabel('Expiration date');
    for (const [typed, written] of [
      ['1234', '12 / 34'],
      ['4/34', '04 / 34'],
      ['12/2034', '12 / 34'],
    ] as const) {
      await expiry.fill('');
      await expiry.pressSequentially(typed);
      expect(await expiry.inputValue()).toBe(written);
    }
    await type(WORKS);
    expect(await changeTo({ complete: true, empty: false })).toEqual({
      elementType: 'payment',
      complete: true,
      empty: false,
      collapsed: false,
      value: { type: 'card' },
    });
    await page.evaluate(() => (globalThis as any).payment.clear());
    await changeTo({ complete: false, empty: true });
  });

  it('disappears when it is unmounted, and can be mounted again until it is destroyed', async () => {
    await open();
    const { clientSecret } = await sandbox.newIntent();
    await mount({ clientSecret });
    await page.evaluate(() => (globalThis as any).payment.unmount());
    expect(await page.locator('iframe').count()).toBe(0);
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          const { payment } = globalThis as any;
          payment.once('ready', resolve);
          payment.mount('#place');
        }),
    );
    await type(WORKS);
    expect((await pay()).paymentIntent.status).toBe('succeeded');
    const again = page.evaluate(() => {
      const { payment } = globalThis as any;
      payment.destroy();
      payment.mount('#place');
    });
    await expect(again).rejects.toThrow('already been destroyed');
    expect(await page.locator('iframe').count()).toBe(0);
  });

  it('is filled in, paid and authenticated by keyboard', async () => {
    await open();
    await mount({ clientSecret: (await sandbox.newIntent()).clientSecret });
    await page.evaluate(() => {
      const host = globalThis as any;
      host.paid = new Promise((resolve) => {
        host.document.querySelector('form').addEventListener('submit', (event: any) => {
          event.preventDefault();
          resolve(host.stripe.confirmPayment({ elements: host.elements, redirect: 'if_required' }));
        });
      });
    });
    const values = [AUTHENTICATION, '1234', '123', '78701'];
    for (const [index, label] of LABELS.en.entries()) {
      await page.keyboard.press('Tab');
      // The focus reaches a frame of another origin with a delay. Keys that are typed earlier would go to the page.
      await card().getByLabel(label).and(card().locator(':focus')).waitFor();
      await page.keyboard.type(values[index] as string);
    }
    await page.keyboard.press('Enter');
    await stepHasFocus();
    // The focus moves through the dialog once and never reaches the page behind it. The page learns of the focus later
    // than the frame that has it.
    for (let press = 0; press < 4; press += 1) {
      await page.keyboard.press('Tab');
      await page.waitForFunction(() => (globalThis as any).document.activeElement.closest('main') === null);
    }
    await step().getByRole('button', { name: 'Complete' }).focus();
    await stepHasFocus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => (globalThis as any).paid)).toMatchObject({
      paymentIntent: { status: 'succeeded' },
    });
    // The card's frame has the focus again.
    await page.waitForFunction(() => (globalThis as any).document.activeElement.closest('#place') !== null);
  });

  it.each([
    ['en', undefined, 'light'],
    ['es', undefined, 'dark'],
    ['es', 'stripe', 'dark'],
    ['en', 'night', 'dark'],
  ] as const)(
    'passes axe in %s with the theme %s under the preference %s, at a width of 320 px',
    async (locale, theme, colorScheme) => {
      await open('/with-script', { colorScheme, viewport: { width: 320, height: 640 } });
      // Adds axe to every frame, although the policies of the pages forbid scripts. The frames answer the page at any
      // origin.
      const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      await page.addInitScript({ content: `${axe}; axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })` });
      await page.reload();
      await mount({
        clientSecret: (await sandbox.newIntent()).clientSecret,
        options: { locale, appearance: theme === undefined ? {} : { theme } },
      });
      await page.evaluate(() => (globalThis as any).elements.submit());
      await hasNoFinding('payment-element');
      await type(AUTHENTICATION, locale);
      await payAfter(async () => {
        await hasNoFinding('authentication');
        await step().locator('button.main').click();
      });
    },
  );

  async function hasNoFinding(path: string): Promise<void> {
    const found: any = await page.evaluate(async () => {
      const { violations, passes } = await (globalThis as any).axe.run();
      return {
        violations: violations.map(({ id, nodes }: any) => `${id}: ${nodes[0].html}`),
        // The selector of an element inside a frame begins with the selector of the frame.
        readable: passes.some(
          ({ id, nodes }: any) => id === 'color-contrast' && nodes.some(({ target }: any) => target.length > 1),
        ),
      };
    });
    expect(found).toEqual({ violations: [], readable: true });
    const frame = page.frames().find((each) => each.url().includes(path));
    const surplus = await frame?.evaluate(() => {
      const { document, innerWidth } = globalThis as any;
      return document.documentElement.scrollWidth - innerWidth;
    });
    expect(surplus).toBeLessThanOrEqual(0);
  }
});

describe('the authentication step', () => {
  it.each([
    [AUTHENTICATION, 'Complete', 'succeeded'],
    ['4000000000003220', 'Complete', 'succeeded'],
  ])('(%s) lets the payment succeed when it was passed with %s', async (number, button, status) => {
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
  ])('that was %s makes the payment fail, and a payment with the next card succeeds', async (_what, act) => {
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

  it('does not make a card succeed that the bank declines', async () => {
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
  it('returns valid values, which are the same every time, and stores nothing', async () => {
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
