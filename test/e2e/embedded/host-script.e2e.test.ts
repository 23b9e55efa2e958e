// The host script in a real browser: its refusals, its callbacks, and its cleanup (docs/how-to/embed-the-component.md).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import type { ComponentErrorCode } from '../../../web/contract/callbacks.js';
import { COMPONENT_ERRORS } from '../../../web/contract/codes.js';
import { TITLES } from '../../../web/contract/titles.js';
import { REJECTIONS } from '../../../web/embed/rejections.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { soon, until } from '../../support/eventually.js';
import { freePort } from '../../support/redis.js';
import { FrameDouble, isFramePage } from '../../support/frame-double.js';

const SESSION = '0190b5a0-0000-7000-8000-000000000001';
/** The documents of the component's frame and of the frames inside it. */
const isDocument = (url: URL): boolean => isFramePage(url) || url.pathname.startsWith('/browser/payment-element');
const isExchange = (url: URL): boolean => url.pathname === '/auth/token/exchange';
const error = (code: ComponentErrorCode, recoverable?: boolean): object => ({
  code,
  message: COMPONENT_ERRORS[code].message,
  ...(recoverable !== undefined && { recoverable }),
});

let embedding: Embedding;
let key: string;
let host: HostPage;
let page: Page;

beforeAll(async () => {
  embedding = await Embedding.start();
  key = embedding.credentials.accounts.demo.publishableKey;
  const two = embedding.hostPage('<main id="place"></main><section id="other"></section><svg id="drawing"></svg>');
  embedding.serving('/two', { html: two });
});
afterAll(() => embedding.stop());
afterEach(() => host.close());

async function open(path = '/two'): Promise<void> {
  host = await embedding.open(path);
  page = host.page;
}

/** Stops the page's clock, for tests of time limits. */
async function stopTheClock(): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

/** Opens a page whose frames are test doubles. */
async function openWithDouble(): Promise<void> {
  await open();
  await FrameDouble.serveIn(page);
}

const hostScript = async (): Promise<string> =>
  (await fetch(`${embedding.service.baseUrl}/embed/v1/service.js`)).text();

const iframes = (): Promise<number> => page.locator('iframe').count();

/** The error with which an expression of the page rejects: the message, and the names of the other fields. */
async function rejectionOf(expression: string): Promise<unknown> {
  return page.evaluate(
    `(async () => ${expression})().then(() => null, (error) => [error.constructor.name, error.message, ...Object.keys(error)])`,
  );
}

interface ExchangeReply {
  readonly status?: number;
  readonly retryAfter?: string;
  readonly body: unknown;
}

/** Answers the token exchanges in order, instead of the service. The last reply is repeated. */
async function exchangeGives(...replies: ExchangeReply[]): Promise<Record<string, string>[]> {
  const asked: Record<string, string>[] = [];
  await page.route(isExchange, async (route) => {
    const { status = 200, retryAfter, body } = replies[Math.min(asked.length, replies.length - 1)]!;
    asked.push(await route.request().allHeaders());
    await route.fulfill({
      status,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Retry-After',
        'content-type': 'application/json',
        ...(retryAfter && { 'retry-after': retryAfter }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  });
  return asked;
}
const token = (name: string, more: object = {}): { body: unknown } => ({
  body: { token: name, token_type: 'Bearer', expires_in: 3_600, ...more },
});

describe('init', () => {
  it('rejects with a plain error that has no code', async () => {
    await open();
    const given: [string, keyof typeof REJECTIONS][] = [
      ...[
        "''",
        'undefined',
        '7',
        "'pk_test_short'",
        "'sk_test_0123456789abcdef'",
        "'pk_demo_0123456789abcdef'",
        "KEY + ' '",
      ].map((value): [string, keyof typeof REJECTIONS] => [value, 'publishableKey']),
      ['KEY, null', 'initOptions'],
      ['KEY, "x"', 'initOptions'],
      ...[
        "'api.example.test'",
        "'ftp://example.test'",
        "'javascript:alert(1)'",
        "'https://a:b@example.test'",
        "'https://a.test/?x'",
        '7',
      ].flatMap((value): [string, keyof typeof REJECTIONS][] => [
        [`KEY, { baseUrl: ${value} }`, 'baseUrl'],
        [`KEY, { embeddedUrl: ${value} }`, 'embeddedUrl'],
      ]),
      ["KEY, { sessionToken: '' }", 'sessionToken'],
      ['KEY, { sessionToken: 7 }', 'sessionToken'],
      ["KEY, { locale: 'English' }", 'locale'],
      ['KEY, { locale: 7 }', 'locale'],
      ['KEY, { appearance: null }', 'appearance'],
      ["KEY, { appearance: 'dark' }", 'appearance'],
      ["KEY, { appearance: { theme: 'pink' } }", 'appearance'],
      ['KEY, { appearance: { accentColor: 7 } }', 'appearance'],
    ];
    for (const [args, reason] of given)
      expect([args, await rejectionOf(`Service.init(${args.replace('KEY', `'${key}'`)})`)]).toEqual([
        args,
        ['Error', REJECTIONS[reason]],
      ]);
  });

  it('accepts plain HTTP addresses on an HTTPS page only for the same machine', async () => {
    await open();
    await page.route('https://shop.example.test/', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Shop</title>' }),
    );
    await page.goto('https://shop.example.test/');
    await page.addScriptTag({ content: await hostScript() });
    const init = (baseUrl: string): Promise<unknown> =>
      rejectionOf(`Service.init('${key}', { baseUrl: '${baseUrl}', embeddedUrl: 'https://frame.example.test' })`);
    expect(await init('http://api.example.test')).toEqual(['Error', REJECTIONS.baseUrl]);
    for (const address of ['https://api.example.test', 'http://127.0.0.1:3000', 'http://localhost:3000'])
      expect(await init(address)).toBeNull();
  });

  it('needs the address of the service when another host serves the script', async () => {
    await open('/');
    await page.addScriptTag({ content: await hostScript() });
    expect(await rejectionOf(`Service.init('${key}')`)).toEqual(['Error', REJECTIONS.baseUrlUnknown]);
    expect(await rejectionOf(`Service.init('${key}', { baseUrl: 'http://localhost:1' })`)).toBeNull();
  });
});

describe('mount', () => {
  it('rejects with a plain error and leaves no element in the page', async () => {
    await open();
    await page.evaluate(async (key) => {
      const global = globalThis as any;
      global.instance = await global.Service.init(key);
    }, key);
    const wrong = (options: string, view = "'screening'"): string =>
      `instance.mount(${view}, { selector: '#place', unitAddress: 'x', ${options} })`;
    const cases: [string, keyof typeof REJECTIONS][] = [
      [wrong('', "'toString'"), 'view'],
      [wrong('', 'undefined'), 'view'],
      ["instance.mount('screening')", 'mountOptions'],
      ["instance.mount('screening', null)", 'mountOptions'],
      ['instance.mount("screening", { selector: "#place" })', 'unitAddress'],
      ...["''", "'  '", "'x'.repeat(256)", 'null', '7', "{ address: 'x', city: 'y', state: '', zip: '78701' }"].map(
        (value): [string, keyof typeof REJECTIONS] => [wrong(`unitAddress: ${value}`), 'unitAddress'],
      ),
      ...['0', '-1', '1.5', '1000001', "'100'", 'NaN', 'null'].map((value): [string, keyof typeof REJECTIONS] => [
        wrong(`applicationFee: ${value}`),
        'applicationFee',
      ]),
      [wrong("endUserType: 'OWNER'"), 'endUserType'],
      [wrong("userType: 'RENTER'"), 'userType'],
      [wrong('productId: 1.5'), 'productId'],
      [wrong("productId: '1'"), 'productId'],
      [wrong("screeningId: '7'"), 'screeningId'],
      [wrong('', "'report'"), 'screeningIdMissing'],
      [wrong("prefill: 'Ada'"), 'prefill'],
      [wrong("onReady: 'shout'"), 'callback'],
      [wrong('handlePrintRequested: {}'), 'callback'],
      ["instance.mount('screening', { unitAddress: 'x' })", 'selectorOrElement'],
      [wrong('element: document.body'), 'selectorOrElement'],
      ["instance.mount('screening', { unitAddress: 'x', selector: '#nowhere' })", 'selectorMatchesNothing'],
      ["instance.mount('screening', { unitAddress: 'x', selector: '<<' })", 'selector'],
      ["instance.mount('screening', { unitAddress: 'x', selector: 7 })", 'selector'],
      ["instance.mount('screening', { unitAddress: 'x', selector: '#drawing' })", 'element'],
      ["instance.mount('screening', { unitAddress: 'x', element: {} })", 'element'],
      ["instance.mount('screening', { unitAddress: 'x', element: document.createElement('p') })", 'elementNotInPage'],
      ["Promise.resolve().then(() => instance.on('onUnknown', () => undefined))", 'callbackName'],
      ["Promise.resolve().then(() => instance.on('onReady', null))", 'callback'],
      [`(instance.destroy(), ${wrong('')})`, 'destroyed'],
      ["Promise.resolve().then(() => instance.on('onReady', () => undefined))", 'destroyed'],
    ];
    for (const [expression, reason] of cases)
      expect([expression, await rejectionOf(expression)]).toEqual([expression, ['Error', REJECTIONS[reason]]]);
    expect(await iframes()).toBe(0);
    expect(host.requests.filter(({ url }) => isExchange(new URL(url)))).toEqual([]);
    // Each text either occurs in this test or belongs to another test.
    const seen = new Set(cases.map(([, reason]) => reason));
    expect(Object.keys(REJECTIONS).filter((reason) => !seen.has(reason as never))).toEqual([
      ...[
        'publishableKey',
        'initOptions',
        'baseUrl',
        'baseUrlUnknown',
        'embeddedUrl',
        'sessionToken',
        'locale',
        'appearance',
      ],
      ...['alreadyMounted', 'elementInUse'],
    ]);
  });

  it('allows one view in an element, and one view of a screening in a page', async () => {
    await openWithDouble();
    await host.mount();
    const again = (more: string, instance = 'instance'): string =>
      `${instance}.mount('screening', { unitAddress: 'x', ${more} })`;
    expect(await rejectionOf(again("selector: '#place'"))).toEqual(['Error', REJECTIONS.elementInUse]);
    expect(await rejectionOf(again("selector: '#place'", `(await Service.init('${key}'))`))).toEqual([
      'Error',
      REJECTIONS.elementInUse,
    ]);
    expect(await rejectionOf(again("selector: '#other'"))).toEqual(['Error', REJECTIONS.alreadyMounted]);
    expect(await rejectionOf(again(`selector: '#other', screeningId: '${SESSION}'`))).toBeNull();
    expect(await iframes()).toBe(2);
    // When the page itself empties the element, the view counts as unmounted.
    await page.evaluate(() => (globalThis as any).document.querySelector('#place').replaceChildren());
    expect(await rejectionOf(again("selector: '#place'"))).toBeNull();
    await FrameDouble.startedIn(page);
  });

  it('puts a frame with a title and a height into the page, and sets no other style', async () => {
    await openWithDouble();
    await host.mount({ init: { locale: 'es' } });
    const frame = page.locator('#place iframe');
    expect(await frame.getAttribute('title')).toBe(TITLES.screening.es);
    expect(await frame.getAttribute('allow')).toBe('payment');
    expect(await frame.getAttribute('style')).toBe('height: 200px;');
    expect(await frame.getAttribute('src')).toBe(`${embedding.service.baseUrl}/embedded/?key=${key}`);
  });
});

it('a frame has its title in the language of its content', async () => {
  host = await embedding.open('/two', { locale: 'es-MX' });
  page = host.page;
  // The component has no French, so the browser's language is used.
  await host.mount({ init: { locale: 'fr' } });
  await host.hears('onReady');
  expect(await page.locator('#place iframe').getAttribute('title')).toBe(TITLES.screening.es);
  expect(await host.frame.locator('html').getAttribute('lang')).toBe('es');
});

describe('a mounted view', () => {
  it('is ready with the real frame when the page loads the module script', async () => {
    const module = `<main id="place"></main><script type="module">
      import { Service } from '${embedding.service.baseUrl}/embed/v1/service.mjs';
      globalThis.told = [];
      const instance = await Service.init('${key}');
      await instance.mount('screening', { element: place, unitAddress: 'x', onReady: (payload) => told.push(['onReady', payload]) });
    </script>`;
    embedding.serving('/module', { html: `<!doctype html><title>Host</title>${module}` });
    await open('/module');
    expect(await host.hears('onReady')).toEqual({ view: 'screening' });
    expect(await page.evaluate(() => 'Service' in globalThis)).toBe(false);
  });

  it('sends the frame only the options of the page', async () => {
    await openWithDouble();
    await exchangeGives(token('first'));
    const options = {
      unitAddress: { address: '12 Elm Street', city: 'Austin', state: 'TX', zip: '78701', extra: 1 },
      userType: 'AGENT',
      endUserType: 'REAL_ESTATE_AGENT',
      applicationFee: 2_500,
      productId: 3,
      screeningId: SESSION,
      prefill: { firstName: 'Ada', lastName: 7, ssn: '123456789' },
    };
    const init = { locale: 'es-US', appearance: { theme: 'dark', spacing: '8px', other: 'x' } };
    await host.mount({ options, init });
    const frame = await FrameDouble.startedIn(page);
    expect(await frame.hears('start')).toEqual({
      protocol: 1,
      view: 'screening',
      ...options,
      unitAddress: { address: '12 Elm Street', city: 'Austin', state: 'TX', zip: '78701' },
      prefill: { firstName: 'Ada' },
      token: { token: 'first', expiresAt: expect.any(Number) },
      locale: 'es-US',
      appearance: { theme: 'dark', spacing: '8px' },
    });
    expect(await host.hears('onWarning')).toEqual({
      code: 'INVALID_PREFILL_FIELDS',
      message: expect.any(String),
      fields: ['lastName', 'ssn'],
    });
  });

  it("calls the options' functions and all listeners with frozen callbacks, and resizes the frame", async () => {
    await openWithDouble();
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    await page.evaluate(() => {
      const global = globalThis as any;
      global.heard = [];
      global.stop = global.instance.on('onResize', (payload: object) =>
        global.heard.push([payload, Object.isFrozen(payload)]),
      );
    });
    await frame.emit('onResize', { height: 612.4, ssn: '123456789' });
    expect(await host.hears('onResize')).toEqual({ height: 613 });
    expect(await page.evaluate(() => (globalThis as any).heard)).toEqual([[{ height: 613 }, true]]);
    expect(await page.locator('#place iframe').getAttribute('style')).toBe('height: 613px;');
    await page.evaluate(() => (globalThis as any).stop());
    await frame.emit('onResize', { height: 3 });
    expect(await host.hears('onResize', 2)).toEqual({ height: 200 });
    expect(await page.evaluate(() => (globalThis as any).heard.length)).toBe(1);
  });

  it('is not disturbed by a listener that throws, rejects or unmounts it', async () => {
    await openWithDouble();
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    await page.evaluate(() => {
      const { instance, mounted, told } = globalThis as any;
      instance.on('onStepStart', () => { throw new Error('thrown'); }); // prettier-ignore
      instance.on('onStepStart', () => Promise.reject(new Error('rejected')));
      instance.on('onStepStart', () => mounted.unmount());
      instance.on('onStepStart', (payload: unknown) => told.push(['last', payload]));
    });
    // A frame that was unmounted cannot answer the test. The frame therefore answers before it emits the event.
    await frame.frame.evaluate(() => {
      const { setTimeout, call } = globalThis as any;
      setTimeout(() => void call(['emit'], { name: 'onStepStart', payload: { step: 'otp' } }));
    });
    expect(await host.hears('last')).toEqual({ step: 'otp' });
    expect(await host.hears('onStepStart')).toEqual({ step: 'otp' });
    expect(await iframes()).toBe(0);
    expect(host.console.filter((line) => line.startsWith('uncaught'))).toEqual([]);
    expect(host.console.filter((line) => line.includes('onStepStart threw'))).toHaveLength(2);
  });

  it('starts again when its frame loads again', async () => {
    await openWithDouble();
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    await frame.frame.evaluate(() => {
      (globalThis as any).said = undefined;
      (globalThis as any).location.reload();
    });
    expect(await frame.hears('start')).toMatchObject({ view: 'screening' });
    await frame.emit('onStepStart', { step: 'details' });
    await host.hears('onStepStart');
  });

  it("remembers its session, and sends the session's id to the frame when the frame loads again", async () => {
    await openWithDouble();
    await host.mount();
    const known = (): Promise<unknown> => page.evaluate(() => (globalThis as any).mounted.screeningId);
    const frame = await FrameDouble.startedIn(page);
    expect(await known()).toBeNull();
    await frame.call('session', SESSION);
    for (const junk of [null, undefined, 7, '', 'x'.repeat(36), { id: SESSION }, [SESSION]])
      await frame.call('session', junk);
    expect(await known()).toBe(SESSION);
    await page.evaluate(() => {
      const place = (globalThis as any).document.querySelector('#place');
      place.append(place.firstElementChild);
    });
    expect(await (await FrameDouble.startedIn(page)).hears('start')).toMatchObject({ screeningId: SESSION });
    await page.evaluate(() => (globalThis as any).mounted.unmount());
    expect(await known()).toBe(SESSION);
  });
});

it('the host script calls onError of the page when the host script and the frame have different versions', async () => {
  await open('/two');
  const script = await hostScript();
  const newer = script.replace(/\bprotocol:1\b/, 'protocol:2');
  expect(newer).not.toBe(script);
  await page.addScriptTag({ content: newer });
  await host.mount({ init: { baseUrl: embedding.service.baseUrl } });
  expect(await host.hears('onError')).toEqual({
    code: 'SYSTEM_CONFIGURATION_ERROR',
    message: 'The host script and the frame are of different versions.',
    recoverable: false,
  });
  await host.frame.getByText('This is not available here.').waitFor();
});

it('the host script needs the address of a frame with its own origin in init; without the address, an error tells the page the address', async () => {
  const port = String(await freePort());
  const embeddedUrl = `http://localhost:${port}/embedded`;
  const moved = await embedding.service.startBeside({
    ROLE: 'api',
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    EMBEDDED_URL: embeddedUrl,
  });
  try {
    await open();
    await host.mount({ init: { baseUrl: moved.baseUrl } });
    expect(await host.hears('onError')).toEqual({
      code: 'SYSTEM_CONFIGURATION_ERROR',
      message: `The frame of this service is at ${embeddedUrl}: init needs that address as embeddedUrl.`,
      recoverable: false,
    });
    await host.close();
    await open();
    await host.mount({ init: { baseUrl: moved.baseUrl, embeddedUrl } });
    await host.hears('onStepStart');
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  } finally {
    // At its end the service waits for the browser's connections.
    await host.close();
    await moved.program.end('SIGTERM');
  }
});

describe('an error code of the host script', () => {
  const exchanges: [string, ExchangeReply, object][] = [
    ['a refusal of the service', refusal(401, 'KEY_INACTIVE'), error('KEY_INACTIVE')],
    ['too many exchanges', { ...refusal(429, 'RATE_LIMITED'), retryAfter: '60' }, error('RATE_LIMITED')],
    ['no billing', refusal(403, 'BILLING_NOT_CONFIGURED'), error('BILLING_NOT_CONFIGURED')],
    ['no key', refusal(401, 'MISSING_KEY'), error('MISSING_KEY')],
    ['no origin', refusal(400, 'MISSING_ORIGIN'), error('MISSING_ORIGIN')],
    ['a fault of the service', refusal(500, 'INTERNAL_ERROR'), error('INTERNAL_ERROR')],
    [
      'a code that the component does not have',
      refusal(409, 'ATTEMPT_IN_PROGRESS', { message: 'Later.', recoverable: true }),
      { code: 'ATTEMPT_IN_PROGRESS', message: 'Later.', recoverable: true },
    ],
    ['a refusal that is not JSON', { status: 403, body: '<html>' }, error('UNKNOWN_ERROR', false)],
    ['a fault that is not JSON', { status: 500, body: 'Fault' }, error('UNKNOWN_ERROR', true)],
    ['a refusal without a code', { status: 400, body: {} }, error('TOKEN_EXCHANGE_FAILED', false)],
    ['a fault without a code', { status: 500, body: { error: null } }, error('TOKEN_EXCHANGE_FAILED', true)],
    ['a reply without a valid token', token('a b'), error('TOKEN_EXCHANGE_FAILED', false)],
    ['an expired token', token('a', { expires_in: 0 }), error('TOKEN_EXCHANGE_FAILED', false)],
  ];
  function refusal(status: number, code: string, more: object = {}): { status: number; body: unknown } {
    return { status, body: { error: { code, message: 'The message of the service.', ...more } } };
  }

  it('is reported for each failed token exchange, and the view is then removed from the page', async () => {
    await openWithDouble();
    for (const [what, reply, told] of exchanges) {
      await page.unroute(isExchange);
      await exchangeGives(reply);
      await page.evaluate(() => ((globalThis as any).told = []));
      await host.mount();
      expect([what, await host.hears('onError')]).toEqual([what, told]);
      expect(await iframes()).toBe(0);
    }
    // The same instance mounts again, and this mount succeeds.
    await page.unroute(isExchange);
    await page.evaluate(() =>
      (globalThis as any).instance.mount('screening', { selector: '#place', unitAddress: 'x' }),
    );
    await FrameDouble.startedIn(page);
  });

  it.each<[ComponentErrorCode, string, string]>([
    ['INVALID_KEY', '', 'pk_test_0123456789abcdef'],
    ['ORIGIN_NOT_ALLOWED', 'of another origin', ''],
  ])('%s is the error of a page %s', async (code, elsewhere, unknownKey) => {
    await open();
    if (elsewhere) await page.goto(`${embedding.hostOrigin.replace('localhost', '127.0.0.1')}/two`);
    await host.mount({ key: unknownKey || key });
    expect(await host.hears('onError')).toEqual(error(code));
  });

  it('reaches every view that waits for the same token exchange', async () => {
    await openWithDouble();
    const asked = await exchangeGives(refusal(403, 'KEY_INACTIVE'));
    await page.evaluate(async (key) => {
      const global = globalThis as any;
      const instance = await global.Service.init(key);
      global.told = [];
      instance.on('onError', (payload: unknown) => global.told.push(['onError', payload]));
      const wish = { unitAddress: 'x' };
      await Promise.all([
        instance.mount('screening', { ...wish, selector: '#place' }),
        instance.mount('income', { ...wish, selector: '#other' }),
      ]);
    }, key);
    await host.hears('onError', 2);
    expect(asked).toHaveLength(1);
    expect(await iframes()).toBe(0);
  });

  it('TOKEN_EXCHANGE_FAILED follows several refused connections; a single refused connection causes no error', async () => {
    await openWithDouble();
    await page.route(isExchange, (route) => route.abort(), { times: 1 });
    await host.mount();
    await FrameDouble.startedIn(page);
    await page.evaluate(() => (globalThis as any).instance.destroy());
    expect(await host.told()).toEqual([]);

    await page.route(isExchange, (route) => route.abort());
    await host.mount();
    expect(await host.hears('onError')).toEqual(error('TOKEN_EXCHANGE_FAILED', false));
    expect(await iframes()).toBe(0);
  });

  it('TOKEN_EXCHANGE_FAILED follows 10 seconds of silence', async () => {
    await openWithDouble();
    await stopTheClock();
    await page.route(isExchange, () => undefined);
    const asked = page.waitForRequest((request) => isExchange(new URL(request.url())));
    await host.mount();
    await asked;
    await page.clock.runFor(9_900);
    expect(await host.told()).toEqual([]);
    await page.clock.runFor(200);
    expect(await host.hears('onError')).toEqual(error('TOKEN_EXCHANGE_FAILED', false));
  });

  it('IFRAME_TIMEOUT follows 30 seconds without a frame of the service', async () => {
    await openWithDouble();
    await stopTheClock();
    await host.mount();
    // The test supplies the token, so that only the frame is missing.
    await FrameDouble.startedIn(page);
    await page.evaluate(() => (globalThis as any).mounted.unmount());
    const evil = `${embedding.hostOrigin}/evil`;
    const listen = '<script>addEventListener("message", (event) => (self.heard = event.data))</script>';
    embedding.serving('/evil', { html: listen });
    const kinds: Readonly<Record<string, (route: Route) => unknown>> = {
      'an empty page': (route) => route.fulfill({ contentType: 'text/html', body: '' }),
      'an error page': (route) => route.fulfill({ status: 500, body: '' }),
      'no connection': (route) => route.abort(),
      'no answer': () => undefined,
      'a page of another origin': (route) => route.fulfill({ status: 302, headers: { location: evil } }),
    };
    for (const [kind, answer] of Object.entries(kinds)) {
      await page.unrouteAll();
      await page.route(isFramePage, answer);
      const attached = page.waitForEvent('frameattached');
      await page.evaluate(() => {
        const { instance, told } = globalThis as any;
        told.length = 0;
        return instance.mount('screening', {
          selector: '#place',
          unitAddress: 'x',
          onError: (payload: unknown) => told.push(['onError', payload]),
        });
      });
      const frame = await attached;
      if (kind !== 'no answer') await frame.waitForLoadState('load');
      if (kind === 'a page of another origin')
        expect(await frame.evaluate(() => [(globalThis as any).location.href, (globalThis as any).heard])).toEqual([
          evil,
          undefined,
        ]);
      await page.clock.runFor(29_900);
      expect([kind, await host.told()]).toEqual([kind, []]);
      await page.clock.runFor(200);
      expect([kind, await host.hears('onError')]).toEqual([kind, error('IFRAME_TIMEOUT', false)]);
      expect(await iframes()).toBe(0);
    }
    const hint =
      `the frame at ${embedding.service.baseUrl}/embedded did not answer. Is ${embedding.hostOrigin} among the origins of the ` +
      `publishable key, and does the Content-Security-Policy of this page have frame-src ${embedding.service.baseUrl}?`;
    expect(host.console.filter((line) => line.includes(hint))).toHaveLength(Object.keys(kinds).length);
  });

  it("IFRAME_LOAD_FAILED follows an error event of the frame's element", async () => {
    await open();
    await page.route(isFramePage, () => undefined);
    await host.mount();
    await page.locator('#place iframe').dispatchEvent('error');
    expect(await host.hears('onError')).toEqual(error('IFRAME_LOAD_FAILED', false));
    expect(await iframes()).toBe(0);
  });

  it("IFRAME_ERROR follows when the frame's element cannot be created", async () => {
    await open();
    await page.evaluate(() => {
      (globalThis as any).document.createElement = () => { throw new Error('no'); }; // prettier-ignore
    });
    await host.mount();
    expect(await host.hears('onError')).toEqual(error('IFRAME_ERROR', false));
  });

  it.each(['AGENT', 'PMC'])(
    'SYSTEM_CONFIGURATION_ERROR follows, after mount has resolved, when an %s opens a report',
    async (userType) => {
      await open();
      await host.mount({ view: 'report', options: { userType, screeningId: SESSION } });
      expect(await host.hears('onError')).toEqual(error('SYSTEM_CONFIGURATION_ERROR', false));
      expect(await iframes()).toBe(0);
    },
  );
});

describe('a page without a listener for errors', () => {
  const mountBare = (publishableKey: string, more: object = {}): Promise<void> =>
    page.evaluate(
      async ([publishableKey, more]) => {
        const instance = await (globalThis as any).Service.init(publishableKey);
        await instance.mount('screening', { selector: '#place', unitAddress: 'x', ...more });
      },
      [publishableKey, more] as const,
    );

  it('finds the error and its own origin in the console', async () => {
    await open();
    await mountBare('pk_test_0123456789abcdef0123456789abcdef');
    const { message } = COMPONENT_ERRORS.INVALID_KEY;
    const line = `error: Service: INVALID_KEY: ${message} (${embedding.hostOrigin})`;
    await until('the console has it', () => Promise.resolve(host.console.includes(line)));
  });

  it('finds the names of unknown options in the console', async () => {
    await openWithDouble();
    await mountBare(key, { userTyp: 'AGENT', onRaedy: 1 });
    expect(host.console).toEqual(['warning: Service: unknown options: userTyp, onRaedy.']);
  });
});

describe('an instance whose options are updated', () => {
  it('passes on its language and appearance, and keeps the other options', async () => {
    await openWithDouble();
    await host.mount({ init: { locale: 'en', appearance: { theme: 'dark' } } });
    const frame = await FrameDouble.startedIn(page);
    await page.evaluate(() => (globalThis as any).instance.update({ locale: 'es' }));
    expect(await frame.hears('dressed')).toEqual({ locale: 'es', appearance: { theme: 'dark' } });
    expect(await page.locator('#place iframe').getAttribute('title')).toBe(TITLES.screening.es);
    expect(await rejectionOf("Promise.resolve().then(() => instance.update({ locale: 'Spanish' }))")).toEqual([
      'Error',
      REJECTIONS.locale,
    ]);
  });

  it('keeps the text that a person has typed', async () => {
    await open();
    await host.mount({ options: { prefill: { firstName: 'Ada' } }, init: { locale: 'en' } });
    await host.hears('onReady');
    await page.evaluate(() =>
      (globalThis as any).instance.update({ locale: 'es', appearance: { backgroundColor: 'rgb(250, 240, 230)' } }),
    );
    const name = host.frame.getByLabel('Nombre', { exact: true });
    await name.waitFor();
    expect(await name.inputValue()).toBe('Ada');
    expect(await host.frame.locator('html').getAttribute('lang')).toBe('es');
    expect(
      await host.frame
        .locator('body')
        .evaluate((body: any) => (globalThis as any).getComputedStyle(body).backgroundColor),
    ).toBe('rgb(250, 240, 230)');
  });
});

describe("a page's function that returns session grants", () => {
  /** Mounts a view with a function that returns this value. */
  const withFunction = (gives: 'a grant' | 'a number' | 'an error' | 'a rejection'): Promise<void> =>
    page.evaluate(
      async ([key, gives]) => {
        const global = globalThis as any;
        global.told = [];
        let asked = 0;
        const sessionToken = (): unknown => {
          if (gives === 'an error') throw new Error('no grant');
          if (gives === 'a rejection') return Promise.reject(new Error('no grant'));
          asked += 1;
          return Promise.resolve(gives === 'a grant' ? `grant-${asked}` : asked);
        };
        const instance = await global.Service.init(key, { sessionToken });
        const onError = (payload: unknown): void => global.told.push(['onError', payload]);
        await instance.mount('screening', { selector: '#place', unitAddress: 'x', onError });
      },
      [key, gives] as const,
    );

  it('is called again when the service refuses the token of its grant', async () => {
    await openWithDouble();
    const grant = { consumed: true, reason: null };
    const asked = await exchangeGives(token('first', { grant }), token('second', { grant }));
    await withFunction('a grant');
    const frame = await FrameDouble.startedIn(page);
    expect((await frame.call('token', 'first')).value).toMatchObject({ token: 'second' });
    expect(asked.map((headers) => headers['x-session-token'])).toEqual(['grant-1', 'grant-2']);
  });

  it.each(['a number', 'an error', 'a rejection'] as const)('fails the view when it returns %s', async (gives) => {
    await openWithDouble();
    const asked = await exchangeGives(token('first'));
    await withFunction(gives);
    expect(await host.hears('onError')).toMatchObject({ code: 'TOKEN_EXCHANGE_FAILED' });
    expect(asked).toEqual([]);
  });
});

describe('a session grant', () => {
  it('is sent to the service once', async () => {
    await openWithDouble();
    const asked = await exchangeGives(token('first', { grant: { consumed: true, reason: null } }), token('second'));
    await host.mount({ init: { sessionToken: 'grant' } });
    const frame = await FrameDouble.startedIn(page);
    expect((await frame.call('token', 'first')).value).toMatchObject({ token: 'second' });
    expect(asked.map((headers) => headers['x-session-token'])).toEqual(['grant', undefined]);
    // The second exchange sends the first token, because without it the second token could belong to another account.
    expect(asked[1]).toMatchObject({ authorization: 'Bearer first' });
    expect(await host.told()).toEqual([]);
  });

  it('that cannot be used causes a line in the console, or DELEGATION_UNSUPPORTED when the grant is on behalf of a child account', async () => {
    await openWithDouble();
    const secretKey = embedding.credentials.accounts.demo.secretKey;
    const minted = await embedding.service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': secretKey },
      body: {},
    });
    const sessionToken = minted.body.token as string;
    await host.mount({ init: { sessionToken } });
    await FrameDouble.startedIn(page);
    expect(host.console).toEqual([]);
    await page.evaluate(() => (globalThis as any).instance.destroy());
    await host.mount({ init: { sessionToken } });
    await FrameDouble.startedIn(page);
    expect(await host.told()).toEqual([]);
    expect(host.console).toEqual(['warning: Service: the session token could not be used (ALREADY_CONSUMED).']);

    await page.evaluate(() => (globalThis as any).instance.destroy());
    await exchangeGives(token('first', { grant: { consumed: false, reason: 'EXPIRED', onBehalfOf: true } }));
    await host.mount({ init: { sessionToken } });
    expect(await host.hears('onWarning')).toEqual({
      code: 'DELEGATION_UNSUPPORTED',
      message: 'The session token could not be used (EXPIRED), so the view does not act for the child account.',
    });
  });

  it('that was redeemed in an exchange without a reply fails the view, because the session would have no grant', async () => {
    await openWithDouble();
    const minted = await embedding.service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': embedding.credentials.accounts.demo.secretKey },
      body: {},
    });
    const lost = async (route: Route): Promise<void> => {
      // The test sets the origin, because a request from this process has none.
      await route.fetch({ headers: { ...route.request().headers(), origin: embedding.hostOrigin } });
      await route.abort();
    };
    await page.route(isExchange, lost, { times: 1 });
    await host.mount({ init: { sessionToken: minted.body.token } });
    expect(await host.hears('onError')).toEqual(error('TOKEN_EXCHANGE_FAILED', false));
    // The next view of the instance fails for the same reason.
    await page.evaluate(() =>
      (globalThis as any).instance.mount('screening', {
        selector: '#place',
        unitAddress: 'x',
        onError: (payload: unknown) => (globalThis as any).told.push(['onError', payload]),
      }),
    );
    expect(await host.hears('onError', 2)).toEqual(error('TOKEN_EXCHANGE_FAILED', false));
    expect(host.requests.filter(({ url }) => isExchange(new URL(url))).length).toBeGreaterThan(2);
  });
});

describe('the token', () => {
  /** Mounts two views of one instance. The frame of each is a test double. */
  async function mountTwo(): Promise<FrameDouble[]> {
    await host.mount();
    await page.evaluate(() => {
      const { instance, told } = globalThis as any;
      return instance.mount('income', {
        selector: '#other',
        unitAddress: 'x',
        onError: (payload: unknown) => told.push(['other', payload]),
      });
    });
    return [await FrameDouble.startedIn(page), await FrameDouble.startedIn(page, '#other')];
  }

  it('is exchanged once for all views, and renewed after 90 % of its validity', async () => {
    await openWithDouble();
    await stopTheClock();
    const asked = await exchangeGives(token('first'), token('second'), token('third'));
    const frames = await mountTwo();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ 'x-publishable-key': key, origin: embedding.hostOrigin });
    await page.clock.fastForward(3_600 * 0.9 * 1_000 - 10_000);
    expect(asked).toHaveLength(1);
    await page.clock.fastForward(20_000);
    for (const frame of frames) expect(await frame.hears('renewed')).toMatchObject({ token: 'second' });
    expect(asked[1]).toMatchObject({ 'x-publishable-key': key, authorization: 'Bearer first' });
    await page.clock.fastForward(3_600 * 0.9 * 1_000);
    for (const frame of frames) expect(await frame.hears('renewed', 2)).toMatchObject({ token: 'third' });
    expect(asked).toHaveLength(3);
    // The host script does not renew the token while no view is mounted. The next view uses the existing token.
    await page.evaluate(() => {
      const { instance, mounted } = globalThis as any;
      mounted.unmount();
      instance.destroy();
    });
    await page.clock.fastForward(3_600_000);
    expect(asked).toHaveLength(3);
  });

  it('is not renewed while no view is mounted', async () => {
    await openWithDouble();
    await stopTheClock();
    const asked = await exchangeGives(token('first'), token('second'));
    const mount = (): Promise<unknown> =>
      page.evaluate(async () => {
        const global = globalThis as any;
        global.mounted = await global.instance.mount('screening', { selector: '#place', unitAddress: 'x' });
      });
    await host.mount();
    await FrameDouble.startedIn(page);
    await page.evaluate(() => (globalThis as any).mounted.unmount());
    await page.clock.fastForward(3_500_000);
    expect(asked).toHaveLength(1);
    await mount();
    const frame = await FrameDouble.startedIn(page);
    expect(await frame.hears('start')).toMatchObject({ token: { token: 'first' } });
    await page.clock.runFor(1);
    expect(await frame.hears('renewed')).toMatchObject({ token: 'second' });
  });

  it('is exchanged once for all views when the service refuses it; a refusal of the new token causes no third exchange', async () => {
    await openWithDouble();
    const asked = await exchangeGives(token('first'), token('second'), token('third'));
    const [frame, other] = (await mountTwo()) as [FrameDouble, FrameDouble];
    const answers = await Promise.all([
      frame.call('token', 'first'),
      other.call('token', 'first'),
      frame.call('token', 'first'),
    ]);
    expect(answers.map(({ value }) => value.token)).toEqual(['second', 'second', 'second']);
    expect((await frame.call('token', 'first')).value.token).toBe('second');
    expect((await frame.call('token', null)).value.token).toBe('second');
    expect((await frame.call('token', 'second')).value).toBeNull();
    expect(asked).toHaveLength(2);
    // A refused token proves nothing about the page, so the host script does not send it.
    expect(asked[1]).not.toHaveProperty('authorization');
    expect(await host.told()).toEqual([]);
  });

  it('is renewed again after a failed renewal, as long as it is valid', async () => {
    await openWithDouble();
    await stopTheClock();
    const asked = await exchangeGives(
      token('first'),
      { status: 503, body: {} },
      { status: 503, body: {} },
      token('second'),
    );
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    await page.clock.fastForward(3_600 * 0.9 * 1_000 + 1_000);
    expect(await host.hears('onError')).toEqual(error('TOKEN_REFRESH_FAILED', true));
    await page.clock.fastForward(180_000);
    await host.hears('onError', 2);
    await page.clock.fastForward(90_000);
    expect(await frame.hears('renewed')).toMatchObject({ token: 'second' });
    expect(asked.slice(1).map(({ authorization }) => authorization)).toEqual(Array(3).fill('Bearer first'));
    await page.clock.fastForward(600_000);
    expect(asked).toHaveLength(4);
  });

  it('that expired while the computer slept is not sent: the script exchanges a new one, and a view under a grant ends with an error', async () => {
    for (const grant of [null, { consumed: true, reason: null }]) {
      await openWithDouble();
      await stopTheClock();
      const asked = await exchangeGives(token('first', { grant }), token('second'));
      await host.mount({ init: grant === null ? {} : { sessionToken: 'sgt_test_abc' } });
      const frame = await FrameDouble.startedIn(page);
      await page.clock.fastForward(4_000_000);
      if (grant === null) {
        expect(await frame.hears('renewed')).toMatchObject({ token: 'second' });
        expect(asked[1]).not.toHaveProperty('authorization');
        await host.close();
      } else {
        expect(await host.hears('onError')).toEqual(error('AUTH_TOKEN_INVALID', false));
        expect(asked).toHaveLength(1);
      }
    }
  });

  it('is replaced by a first exchange when the service refuses to renew it before it expires', async () => {
    await openWithDouble();
    await stopTheClock();
    const refused = { status: 401, body: { error: { code: 'AUTH_UNAUTHORIZED', message: 'x' } } };
    const asked = await exchangeGives(token('first'), refused, token('second'));
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    await page.clock.fastForward(3_241_000);
    expect(await frame.hears('renewed')).toMatchObject({ token: 'second' });
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer first', undefined]);
    expect(await host.told()).toEqual([]);
  });

  it('that cannot be renewed is reported to every view, and the views stay mounted', async () => {
    const replies: [{ status?: number; body: unknown }, object][] = [
      [{ status: 503, body: {} }, error('TOKEN_REFRESH_FAILED', true)],
      [{ status: 200, body: {} }, error('TOKEN_REFRESH_FAILED', false)],
      [{ status: 502, body: '<html>' }, error('UNKNOWN_ERROR', true)],
      [{ status: 403, body: { error: { code: 'KEY_INACTIVE', message: 'x' } } }, error('KEY_INACTIVE')],
    ];
    await openWithDouble();
    await exchangeGives(token('first'), ...replies.map(([reply]) => reply));
    const [frame] = (await mountTwo()) as [FrameDouble];
    for (const [index, [, told]] of replies.entries()) {
      expect((await frame.call('token', 'first')).value).toBeNull();
      expect(await host.hears('onError', index + 1)).toEqual(told);
      expect(await host.hears('other', index + 1)).toEqual(told);
    }
    expect(await iframes()).toBe(2);
    // The token is still valid for a view that the service did not refuse.
    expect((await frame.call('token', null)).value.token).toBe('first');
  });
});

describe('the focused element in the frame', () => {
  const TALL = 1_500;
  const IN_PAGE = '<div style="height:2000px"></div><main id="place"></main><div style="height:2000px"></div>';
  const IN_BOX = `<div id="box" style="height:300px;overflow:auto">${IN_PAGE}</div>`;
  let frame: FrameDouble;

  async function mounted(body: string, reducedMotion: 'reduce' | 'no-preference' = 'no-preference'): Promise<void> {
    embedding.serving('/long', { html: embedding.hostPage(body) });
    await open('/long');
    await page.emulateMedia({ reducedMotion });
    await FrameDouble.serveIn(page);
    await host.mount();
    frame = await FrameDouble.startedIn(page);
    await frame.emit('onResize', { height: TALL });
  }

  /** The position of the area in the window or in the box. */
  async function shown(area: unknown): Promise<unknown> {
    await frame.call('show', area);
    return page.evaluate(() => {
      const { document, innerHeight } = globalThis as any;
      const box = document.querySelector('#box')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
      const { top, height } = document.querySelector('iframe').getBoundingClientRect();
      return { top: top - box.top, height: box.bottom - box.top, frameHeight: height };
    });
  }

  const focus = (): Promise<void> => page.evaluate(() => (globalThis as any).document.querySelector('iframe').focus());

  it.each([
    ['page', IN_PAGE],
    ['box in the page', IN_BOX],
  ])('is scrolled into view in the %s, by the smallest possible distance', async (_, body) => {
    await mounted(body);
    await focus();
    const below: any = await shown({ top: 900, bottom: 950 });
    expect([below.frameHeight, below.top]).toEqual([TALL, below.height - 950]);
    expect(await shown({ top: 850, bottom: 900 })).toEqual(below);
    expect(await shown({ top: 100, bottom: 150 })).toEqual({ ...below, top: -100 });
    expect(await page.locator('iframe').getAttribute('style')).not.toContain('margin');
  });

  it('causes no scrolling when the focus is elsewhere in the page, or when the frame reports an invalid area', async () => {
    await mounted(IN_PAGE, 'reduce');
    const before = await shown({ top: 900, bottom: 950 });
    await focus();
    const after: any = await shown(null);
    expect(after).toEqual(before);
    for (const junk of [{}, { top: -5, bottom: 10 }, { top: '900', bottom: 950 }, { top: 900, bottom: 1e9 }, 7])
      expect(await shown(junk)).toEqual(before);
  });

  it('is reported by the real frame; during a press, the frame reports it when the press has ended', async () => {
    await open();
    await page.evaluate(() => {
      const { Element } = globalThis as any;
      const scrolled = ((globalThis as any).scrolled = [] as string[]);
      Element.prototype.scrollIntoView = function (): void {
        scrolled.push(this.style.scrollMargin);
      };
    });
    await host.mount();
    await host.hears('onReady');
    const scrolled = (): Promise<string[]> => page.evaluate(() => (globalThis as any).scrolled);
    const field = host.frame.locator('[name=firstName]');
    const { x, y } = (await field.boundingBox())!;
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.down();
    await field.and(host.frame.locator(':focus')).waitFor();
    expect(await scrolled()).toEqual([]);
    await page.mouse.up();
    await until('the field is shown', async () => (await scrolled()).length === 1);
    await page.keyboard.press('Tab');
    await until('the next field is shown', async () => (await scrolled()).length === 2);
    expect((await scrolled())[1]).toMatch(/^-\d+px 0px -\d+px$/);
  });
});

describe('a page with cross-origin isolation', () => {
  const OPENER = { 'cross-origin-opener-policy': 'same-origin' };
  const EMBEDDER = { 'cross-origin-embedder-policy': 'require-corp' };

  async function opened(headers: Record<string, string>): Promise<void> {
    embedding.serving('/isolated', { html: embedding.hostPage(), headers });
    await open('/isolated');
  }

  async function atPayment(): Promise<void> {
    const { body } = await (await embedding.service.signIn()).submit();
    await host.mount({ options: { screeningId: body.id } });
    await host.frame.frameLocator('iframe[src*="payment-element"]').getByLabel('Card number').waitFor();
  }

  it.each([
    ['that is isolated', { ...OPENER, ...EMBEDDER }, true],
    ['without an effect', EMBEDDER, false],
  ])("%s embeds the component and the sandbox's frames inside it", async (_, headers, isolated) => {
    await opened(headers);
    expect(await page.evaluate(() => (globalThis as any).crossOriginIsolated)).toBe(isolated);
    await atPayment();
  });

  it("may embed frames without the policy, such as Stripe's, when the browser supports credentialless frames", async () => {
    await opened({ ...OPENER, ...EMBEDDER });
    // The test itself answers these requests, so the browser knows no address for the reply. Without this permission,
    // the browser would ask before it loads from this machine.
    await page.context().grantPermissions(['local-network-access']);
    await page.route(isDocument, async (route) => {
      const response = await route.fetch();
      const { 'cross-origin-embedder-policy': policy, ...headers } = response.headers();
      expect(policy).toBe('require-corp');
      await route.fulfill({ response, headers });
    });
    await atPayment();
  });

  it('requests the frame with the policy from the service in other browsers', async () => {
    await opened({ ...OPENER, ...EMBEDDER });
    await page.evaluate(() => delete (globalThis as any).HTMLIFrameElement.prototype.credentialless);
    await atPayment();
    expect(await page.locator('iframe').getAttribute('src')).toMatch(/\?key=pk_test_[\w-]+&isolated$/);
  });
});

describe('a message from another sender', () => {
  it('changes nothing when it is sent over the port and is not a callback', async () => {
    await openWithDouble();
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    const junk: unknown[] = [null, 7, 'onReady', [], {}, { name: 'onReady' }, { name: '__proto__', payload: {} }];
    for (const value of [...junk, { name: 'onError', payload: { code: 'x', message: 'y' } }])
      expect((await frame.call('emit', value)).isError).toBeUndefined();
    await frame.frame.evaluate(() => {
      const { port } = globalThis as any;
      const cycle: Record<string, unknown> = { name: 'onReady' };
      cycle['payload'] = cycle;
      for (const message of [
        null,
        7,
        [],
        {},
        cycle,
        { namespace: 'penpal' },
        { namespace: 'penpal', type: 'CALL', id: {}, methodPath: 7 },
      ])
        port.postMessage(message);
      for (let i = 0; i < 5_000; i += 1)
        port.postMessage({ namespace: 'penpal', type: 'CALL', id: 'f', methodPath: ['emit'], args: [cycle] });
      // Sends the handshake again.
      for (const type of ['SYN', 'ACK1', 'ACK2'])
        port.postMessage({ namespace: 'penpal', type, participantId: '~~', methodPaths: [['start']] });
    });
    for (const path of [['constructor'], ['toString'], ['__proto__', 'valueOf'], ['emit', 'call'], ['destroy'], []])
      expect(await frame.call(path, {})).toMatchObject({ isError: true });
    await frame.emit('onStepStart', { step: 'details' });
    await host.hears('onStepStart');
    expect((await host.told()).map(([name]) => name)).toEqual(['onStepStart']);
    expect(
      await frame.frame.evaluate(() => (globalThis as any).said.filter(([name]: [string]) => name === 'start').length),
    ).toBe(1);
    expect(host.console.filter((line) => line.startsWith('uncaught'))).toEqual([]);
  });

  it('changes nothing when it is sent to the window of the page', async () => {
    await openWithDouble();
    await host.mount();
    const frame = await FrameDouble.startedIn(page);
    const forged = {
      namespace: 'penpal',
      type: 'CALL',
      id: '1',
      methodPath: ['emit'],
      args: [{ name: 'onReady', payload: { view: 'screening' } }],
    };
    const forge = (message: unknown): void => {
      for (const data of [message, 'service:port', JSON.stringify(message)]) {
        (globalThis as any).parent.postMessage(data, '*');
        (globalThis as any).parent.postMessage(data, '*', [new MessageChannel().port2]);
      }
    };
    await frame.frame.evaluate(forge, forged);
    await page.evaluate(forge, forged);
    await frame.emit('onStepStart', { step: 'details' });
    await host.hears('onStepStart');
    expect((await host.told()).map(([name]) => name)).toEqual(['onStepStart']);
  });

  it('reaches the real frame only from the page: the frame accepts no port from another frame', async () => {
    await open();
    // A neighbouring frame that knows the start message sends ports to every frame as fast as possible.
    await page.evaluate(() => {
      const { document } = globalThis as any;
      const neighbour = document.createElement('iframe');
      neighbour.srcdoc = `<script>
        self.answers = 0;
        setInterval(() => {
          for (let i = 0; i < parent.frames.length; i += 1) {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => (self.answers += 1);
            port1.postMessage({ namespace: 'penpal', type: 'SYN', participantId: '~' });
            parent.frames[i].postMessage('service:port', '*', [port2]);
            self.sent = true;
          }
        }, 5);
      </script>`;
      document.body.prepend(neighbour);
    });
    const neighbour = await (await page.waitForSelector('body > iframe')).contentFrame();
    await neighbour!.waitForFunction(() => (globalThis as any).sent);
    await host.mount();
    expect(await host.hears('onReady')).toEqual({ view: 'screening' });
    expect(await neighbour!.evaluate(() => (globalThis as any).answers)).toBe(0);
  });
});

describe('the host script after an end', () => {
  /** Records from now on which timers run and which ports of the page are open. */
  async function watch(): Promise<void> {
    await page.addInitScript(() => {
      const global = globalThis as any;
      const timers = (global.timers = new Set());
      const ports = (global.openPorts = new Set());
      const { setTimeout, clearTimeout, MessageChannel, MessagePort } = global;
      global.setTimeout = (run: () => void, ms: number) => {
        const id = setTimeout(() => { timers.delete(id); run(); }, ms); // prettier-ignore
        timers.add(id);
        return id;
      };
      global.clearTimeout = (id: unknown) => { timers.delete(id); clearTimeout(id); }; // prettier-ignore
      global.MessageChannel = class extends MessageChannel {
        constructor() {
          super();
          // The recorder keeps a number, because a reference would keep the port alive.
          (this as any).port1.number = ports.size + Math.random();
          ports.add((this as any).port1.number);
        }
      };
      const { close } = MessagePort.prototype;
      MessagePort.prototype.close = function () { ports.delete(this.number); close.call(this); }; // prettier-ignore
    });
    await page.reload();
  }
  const left = (): Promise<{ timers: number; ports: number }> =>
    page.evaluate(() => ({ timers: (globalThis as any).timers.size, ports: (globalThis as any).openPorts.size }));

  it('a view may be unmounted in every phase, and repeatedly', async () => {
    await open();
    await watch();
    for (const phase of ['at once', 'frame loading', 'token awaited', 'token refused for now', 'started']) {
      await page.unrouteAll();
      await FrameDouble.serveIn(page);
      if (phase === 'frame loading') await page.route(isFramePage, () => undefined);
      if (phase === 'token awaited') await page.route(isExchange, () => undefined);
      if (phase === 'token refused for now') await page.route(isExchange, (route) => route.abort());
      await host.mount();
      if (phase.startsWith('token')) await page.waitForFunction(() => (globalThis as any).openPorts.size === 1);
      if (phase === 'token refused for now') await page.waitForEvent('requestfailed');
      if (phase === 'started') await FrameDouble.startedIn(page);
      expect([phase, (await left()).timers]).not.toEqual([phase, 0]);
      await page.evaluate(() => {
        const { mounted } = globalThis as any;
        mounted.unmount();
        mounted.unmount();
      });
      expect([phase, await iframes()]).toEqual([phase, 0]);
      await until(`nothing is left after ${phase}`, async () => {
        const { timers, ports } = await left();
        return timers === 0 && ports === 0;
      });
      expect([phase, await host.told()]).toEqual([phase, []]);
    }
  });

  it('a destroyed instance cancels its open requests', async () => {
    await openWithDouble();
    await page.route(isExchange, () => undefined);
    const failed = page.waitForEvent('requestfailed', (request) => isExchange(new URL(request.url())));
    const asked = page.waitForRequest((request) => isExchange(new URL(request.url())) && request.method() === 'POST');
    await host.mount();
    await asked;
    await page.evaluate(() => (globalThis as any).instance.destroy());
    await failed;
    expect(await iframes()).toBe(0);
    expect(await host.told()).toEqual([]);
  });

  it('twenty views leave no frame, listener, timer, port or memory', async () => {
    await open();
    await watch();
    const before = await page.evaluate(() => Object.getOwnPropertyNames(globalThis).length);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('HeapProfiler.enable');
    await page.evaluate(async (key) => {
      const global = globalThis as any;
      global.instance = await global.Service.init(key);
      global.cycle = () =>
        new Promise<void>((resolve) => {
          const mounted = global.instance.mount('screening', {
            selector: '#place',
            unitAddress: 'x',
            onReady: () => void mounted.then((view: { unmount(): void }) => (view.unmount(), resolve())),
          });
        });
    }, key);
    const measure = async (): Promise<Record<string, number>> => {
      await devtools.send('HeapProfiler.collectGarbage');
      const { nodes, jsEventListeners, documents } = await devtools.send('Memory.getDOMCounters');
      const countOf = async (expression: string): Promise<number> => {
        const { result } = await devtools.send('Runtime.evaluate', { expression });
        const { objects } = await devtools.send('Runtime.queryObjects', { prototypeObjectId: result.objectId! });
        const { result: length } = await devtools.send('Runtime.callFunctionOn', {
          objectId: objects.objectId!,
          functionDeclaration: 'function () { return this.length; }',
        });
        await devtools.send('Runtime.releaseObject', { objectId: objects.objectId! });
        return length.value as number;
      };
      return {
        nodes,
        jsEventListeners,
        documents,
        ports: await countOf('MessagePort.prototype'),
        frames: await countOf('HTMLIFrameElement.prototype'),
      };
    };
    const cycles = (times: number): Promise<void> =>
      page.evaluate(async (times) => {
        for (let i = 0; i < times; i += 1) await (globalThis as any).cycle();
      }, times);
    const heap = async (): Promise<number> => (await devtools.send('Runtime.getHeapUsage')).usedSize;
    // The first views also make the browser compile code, which stays in the heap.
    await cycles(10);
    const first = { counts: await measure(), heap: await heap() };
    await cycles(20);
    // The browser keeps an animated frame in memory until it has drawn once more.
    await soon(async () => {
      const counts = await measure();
      // The browser's own count sometimes differs by one. If every view leaked, the count would differ by twenty.
      for (const [what, count] of Object.entries(counts)) {
        const more = count - (first.counts[what] ?? 0);
        expect([what, more, more < 10]).toEqual([what, more, true]);
      }
      expect(counts).toMatchObject({ ports: 0, frames: 0 });
      expect((await heap()) - first.heap).toBeLessThan(100_000);
    });
    expect(await left()).toEqual({ timers: 0, ports: 0 });
    expect(host.requests.filter(({ url }) => isExchange(new URL(url)))).toHaveLength(1);
    expect(await page.evaluate(() => Object.getOwnPropertyNames(globalThis).length)).toBe(before + 2);
  });

  it('the page has one more global and no stored data', async () => {
    await open();
    embedding.serving('/bare', { html: '<!doctype html><title>Bare</title><main id="place"></main>' });
    await page.goto(`${embedding.hostOrigin}/bare`);
    const globals = (): Promise<string[]> => page.evaluate(() => Object.getOwnPropertyNames(globalThis));
    const before = await globals();
    await page.addScriptTag({ url: `${embedding.service.baseUrl}/embed/v1/service.js` });
    expect((await globals()).filter((name) => !before.includes(name))).toEqual(['Service']);
    await host.mount();
    await host.hears('onReady');
    const stored = await page.evaluate(async () => {
      const { localStorage, sessionStorage, indexedDB, document } = globalThis as any;
      return [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, document.cookie];
    });
    expect(stored).toEqual([0, 0, 0, '']);
  });
});
