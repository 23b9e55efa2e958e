// Hostile pages and frames. The tests cover damage by a page to the frame, by a frame to the page, and by a report to
// both.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { TEXTS as DETAILS } from '../../../web/frame/steps/details/texts.js';
import { ANA, DetailsForm } from '../../support/details-form.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { soon, until } from '../../support/eventually.js';
import { FrameDouble } from '../../support/frame-double.js';
import type { PlatformCaller } from '../../support/service.js';

/** Types of the functions that run in the browser. */
declare const document: any;

let embedding: Embedding;
let nopay: PlatformCaller;
let host: HostPage;
let page: Page;

beforeAll(async () => {
  embedding = await Embedding.start();
  nopay = await embedding.service.signIn('nopay');
  embedding.serving('/empty', { html: '<!doctype html><title>Empty</title>' });
});
afterAll(() => embedding?.stop());
afterEach(() => host?.close());

const frameUrl = (): string =>
  `${embedding.credentials.embeddedUrl}/?key=${embedding.credentials.accounts.demo.publishableKey}`;

const uncaught = (): string[] => host.console.filter((line) => line.startsWith('uncaught'));

/**
 * A page that talks to the real frame without the host script. The page sends penpal messages of its own and can say
 * things that the host script never says.
 */
async function lyingPage(): Promise<void> {
  host = await embedding.open('/empty');
  page = host.page;
  await page.evaluate((src) => {
    const global = globalThis as any;
    global.heard = [];
    global.asked = 0;
    const frame = document.createElement('iframe');
    frame.id = 'frame';
    frame.src = src;
    frame.width = 800;
    frame.height = 900;
    global.say = (methodPath: unknown, ...args: unknown[]) =>
      global.port.postMessage({ namespace: 'penpal', type: 'CALL', id: String(++global.asked), methodPath, args });
    frame.onload = () => {
      const { port1, port2 } = new global.MessageChannel();
      global.port = port1;
      port1.onmessage = ({ data }: any) => {
        if (data.type === 'SYN' && !global.greeted) {
          global.greeted = true;
          port1.postMessage({ namespace: 'penpal', type: 'SYN', participantId: '~' });
          port1.postMessage({ namespace: 'penpal', type: 'ACK1', methodPaths: [['emit'], ['token']] });
        } else if (data.type === 'ACK2') global.ready = true;
        else if (data.type === 'CALL') {
          global.heard.push(data);
          port1.postMessage({ namespace: 'penpal', type: 'REPLY', callId: data.id, value: global.tokenToGive ?? null });
        }
      };
      frame.contentWindow.postMessage('service:port', new URL(src).origin, [port2]);
    };
    document.body.append(frame);
  }, frameUrl());
  await page.waitForFunction(() => (globalThis as any).ready);
}

async function bearer(): Promise<string> {
  const { body } = await embedding.service.request('POST', '/auth/token/exchange', {
    headers: {
      'x-publishable-key': embedding.credentials.accounts.demo.publishableKey,
      origin: embedding.hostOrigin,
    },
  });
  return body.token;
}

const aStart = (token: string, more: object = {}): Record<string, unknown> => ({
  view: 'screening',
  token: { token, expiresAt: Date.now() + 3_600_000 },
  unitAddress: '1 Main St',
  userType: 'CONSUMER',
  endUserType: null,
  applicationFee: null,
  productId: null,
  screeningId: null,
  prefill: {},
  locale: null,
  appearance: {},
  ...more,
});

describe('a hostile page', () => {
  const inFrame = () => page.frameLocator('#frame');
  const say = (method: unknown, ...args: unknown[]): Promise<void> =>
    page.evaluate(([method, args]) => (globalThis as any).say(method, ...args), [method, args] as const);

  it('cannot start the frame with invalid start messages; only the first valid message starts it', async () => {
    await lyingPage();
    const token = await bearer();
    const right = aStart(token);
    for (const junk of [null, 7, 'start', [], {}, { ...right, view: '__proto__' }, { ...right, token: 'x' }])
      await say(['start'], junk);
    await say(['start'], { ...right, screeningId: '../../v1/sessions' });
    await say(['start'], { ...right, unitAddress: 'x'.repeat(1_000_000) });
    await say(['start'], { ...right, prefill: { firstName: 'x'.repeat(1_000_000) }, locale: 'es' });
    await say(['start'], aStart(token, { view: 'income', locale: 'en' }));
    await inFrame().getByRole('heading', { name: DETAILS.es.aboutTitle }).waitFor();
    expect(await inFrame().getByRole('textbox', { name: 'Nombre' }).first().inputValue()).toBe('');
    expect(uncaught()).toEqual([]);
  });

  it('cannot pollute a prototype, and can call only the two methods that the frame offers', async () => {
    await lyingPage();
    await page.evaluate(
      (start) => {
        const { say } = globalThis as any;
        const polluted = JSON.parse(
          '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"firstName":"Ana"}',
        );
        for (const path of [
          ['constructor'],
          ['__proto__', 'polluted'],
          ['constructor', 'prototype', 'polluted'],
          ['toString'],
          ['__defineGetter__'],
          ['start', 'constructor'],
          [],
          7,
          null,
        ])
          say(path, 'polluted', 'yes');
        say(['start'], { ...start, prefill: polluted, appearance: polluted });
      },
      aStart(await bearer()),
    );
    await inFrame().getByRole('textbox', { name: 'First name' }).waitFor();
    expect(await inFrame().getByRole('textbox', { name: 'First name' }).inputValue()).toBe('Ana');
    const frame = page.frames().find((each) => each.url() === frameUrl());
    expect(await frame!.evaluate(() => ({}) as { polluted?: string })).toEqual({});
    expect(uncaught()).toEqual([]);
  });

  it('cannot make the frame unusable with ten thousand messages and very long strings', async () => {
    await lyingPage();
    const token = await bearer();
    await say(['start'], aStart(token));
    await inFrame().getByRole('textbox', { name: 'First name' }).waitFor();
    await page.evaluate(
      ([good, target]) => {
        const { say, port } = globalThis as any;
        const long = 'x'.repeat(1_000_000);
        for (let i = 0; i < 10_000; i += 1) {
          say(['renewed'], i % 2 === 0 ? { token: good, expiresAt: i } : { token: i });
          port.postMessage(i % 2 === 0 ? i : { namespace: 'penpal', type: 'REPLY', callId: String(i) });
        }
        for (let i = 0; i < 20; i += 1) say(['renewed'], long);
        for (let i = 0; i < 10_000; i += 1)
          document.getElementById('frame').contentWindow.postMessage('service:port', new URL(target!).origin);
      },
      [token, frameUrl()],
    );
    await inFrame().getByRole('textbox', { name: 'First name' }).fill('Ana');
    expect(await inFrame().getByRole('textbox', { name: 'First name' }).inputValue()).toBe('Ana');
    expect(uncaught()).toEqual([]);
  });

  it("sees its markup shown as text, and cannot make the frame send a request to an address in the page's options", async () => {
    await lyingPage();
    const markup = '<img src=x onerror="globalThis.ran=1">';
    const elsewhere = embedding.hostOrigin;
    await say(
      ['start'],
      aStart(await bearer(), {
        prefill: { firstName: markup, currentCity: '"><script>globalThis.ran=1</script>' },
        unitAddress: markup,
        appearance: { accentColor: `red;background:url(${elsewhere}/stolen)`, fontFamily: `x;}*{color:red}</style>` },
        baseUrl: elsewhere,
        apiUrl: elsewhere,
        settings: { apiUrl: elsewhere, allowedOrigins: [elsewhere] },
        api: { apiUrl: elsewhere },
      }),
    );
    const { currentCity: _, ...others } = ANA;
    await new DetailsForm(inFrame()).fill({ ...others, ssn: '666443210' });
    await inFrame().getByRole('textbox', { name: 'City' }).waitFor();
    const frame = page.frames().find((each) => each.url() === frameUrl())!;
    expect(await frame.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(await inFrame().locator('img:not(.brand img), script:not([src]), base').count()).toBe(0);
    const { baseUrl, sandboxUrl } = embedding.service;
    await until('the options were asked for', () =>
      host.requests.some(({ url }) => url.includes('/screening/options')),
    );
    const asked = host.requests.filter(({ url }) => url !== `${elsewhere}/empty` && !url.endsWith('/favicon.ico'));
    expect([...new Set(asked.map(({ url }) => new URL(url).origin))].sort()).toEqual([baseUrl, sandboxUrl].sort());
  });

  it('cannot open a port from a window that is not the parent, before or after the real port', async () => {
    host = await embedding.open('/empty');
    page = host.page;
    // A popup that the page opens. The popup has a reference to the window of the frame.
    await page.evaluate((src) => {
      const global = globalThis as any;
      global.answers = 0;
      const frame = document.createElement('iframe');
      frame.id = 'frame';
      frame.src = src;
      document.body.append(frame);
      const popup = global.open('about:blank');
      popup.document.body.append(popup.document.createElement('p'));
      popup.eval(`
        globalThis.post = (target) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => (opener.answers += 1);
          port1.postMessage({ namespace: 'penpal', type: 'SYN', participantId: '~' });
          target.postMessage('service:port', '*', [port2]);
        }`);
      global.forge = () => popup.post(frame.contentWindow);
      frame.onload = () => {
        for (let i = 0; i < 100; i += 1) global.forge();
        const { port1, port2 } = new global.MessageChannel();
        port1.onmessage = () => (global.greeted = true);
        port1.postMessage({ namespace: 'penpal', type: 'SYN', participantId: '~' });
        // Other messages, and messages without a port, do not use up the single port.
        for (const data of [null, 'service:port2', { toString: 'service:port' }, ['service:port'], 'service:port'])
          frame.contentWindow.postMessage(data, '*');
        frame.contentWindow.postMessage('service:port', new URL(src).origin, [port2]);
        for (let i = 0; i < 100; i += 1) global.forge();
      };
    }, frameUrl());
    await page.waitForFunction(() => (globalThis as any).greeted);
    expect(await page.evaluate(() => (globalThis as any).answers)).toBe(0);
  });

  it('cannot read a screening of another account', async () => {
    const { body } = await nopay.submit();
    host = await embedding.open();
    await host.mount({ account: 'demo', options: { screeningId: body.id } });
    expect(await host.hears('onError')).toMatchObject({ code: 'NOT_FOUND' });
    expect((await host.told()).map(([name]) => name)).not.toContain('onVerificationSuccess');
    await host.frame.getByRole('heading').first().waitFor();
    expect(await host.frame.locator('input').count()).toBe(0);
  });
});

describe('a hostile frame', () => {
  async function lyingFrame(): Promise<FrameDouble> {
    host = await embedding.open();
    page = host.page;
    await FrameDouble.serveIn(page);
    await host.mount();
    return FrameDouble.startedIn(page);
  }

  it('can report only known fields of the right types', async () => {
    const double = await lyingFrame();
    const session = '0190b5a0-0000-7000-8000-000000000001';
    const personal = { ssn: '123456789', name: 'Ana', toString: 'x', nested: { ssn: '123456789' } };
    const told: [string, object][] = [
      ['onStepStart', { step: 'otp' }],
      ['onVerificationSuccess', { sessionId: session, status: 'VERIFIED' }],
      ['onScreeningSuccess', { sessionId: session, overallStatus: 'COMPLETED', score: 700 }],
      ['onError', { code: 'USER_BLOCKED', message: 'No.', recoverable: false }],
    ];
    for (const [name, payload] of told) await double.emit(name, { ...payload, ...personal });
    for (const [name, payload] of [
      ['onStepStart', { step: '123456789' }],
      ['onStepStart', { step: ['otp'] }],
      ['onVerificationSuccess', { sessionId: 'Ana Smith, 1 Main St', status: 'VERIFIED' }],
      ['onVerificationSuccess', { sessionId: session, status: 'Ana' }],
      ['onScreeningSuccess', { sessionId: session, overallStatus: 'Ana' }],
      ['onPaymentSuccess', { sessionId: session, transactionId: 'x', amount: '35', currency: 'usd' }],
      ['onError', { code: 'Ana', message: 'x' }],
      ['onSsn', { ssn: '123456789' }],
      ['toString', {}],
    ] as const)
      await double.emit(name, payload);
    await soon(async () => expect((await host.told()).map(([name, payload]) => [name, payload])).toEqual(told));
    expect(uncaught()).toEqual([]);
  });

  it('cannot set an impossible height, and cannot stop the page from answering', async () => {
    const double = await lyingFrame();
    for (const height of [Infinity, 1e9, -1, NaN, '300', null, { valueOf: 300 }])
      await double.emit('onResize', { height });
    expect(await page.locator('#place iframe').evaluate((frame: any) => frame.style.height)).toBe('200px');
    await double.frame.evaluate(() => {
      const { port } = globalThis as any;
      for (let i = 0; i < 10_000; i += 1)
        port.postMessage({
          namespace: 'penpal',
          type: 'CALL',
          id: `r${i}`,
          methodPath: ['emit'],
          args: [{ name: 'onResize', payload: { height: 200 + (i % 700) } }],
        });
    });
    await host.hears('onResize', 10_000);
    await double.emit('onResize', { height: 512 });
    expect(await page.locator('#place iframe').evaluate((frame: any) => frame.style.height)).toBe('512px');
  });

  it('cannot cause more than one token exchange: it receives the present token, then one new token, then none', async () => {
    const double = await lyingFrame();
    for (const junk of [undefined, null, 7, {}, 'x'.repeat(1_000_000), '__proto__'])
      expect((await double.call('token', junk)).value).toMatchObject({ token: expect.any(String) });
    const replies = await double.frame.evaluate(async () => {
      const { call } = globalThis as any;
      const { token } = (await call(['token'], null)).value;
      const asked = [];
      for (let i = 0; i < 200; i += 1) asked.push(call(['token'], token));
      const next = (await Promise.all(asked)).map(({ value }: any) => value?.token);
      const last = await call(['token'], next[0]);
      return { same: new Set(next).size, last: last.value };
    });
    expect(replies).toEqual({ same: 1, last: null });
    expect(host.requests.filter(({ url, method }) => method === 'POST' && url.endsWith('/exchange'))).toHaveLength(2);
  });
});

describe('a hostile report', () => {
  it('runs no script, sends no request and opens no other page', async () => {
    const { body } = await nopay.submit();
    host = await embedding.open();
    page = host.page;
    const elsewhere = `${embedding.hostOrigin}/elsewhere`;
    await page.route(`**/reports/${body.id}*`, (route) =>
      route.request().headers()['accept']?.includes('text/html') === true
        ? route.fulfill({
            contentType: 'text/html',
            headers: { 'access-control-allow-origin': '*' },
            body: `<!doctype html><html><head><base href="${elsewhere}/" target="_top">
<meta http-equiv="refresh" content="0; url=${elsewhere}/refresh">
<script>top.ran = 1; parent.ran = 1</script><script src="${elsewhere}/x.js"></script>
<link rel="stylesheet" href="${elsewhere}/x.css"><style>@import url(${elsewhere}/y.css)</style></head>
<body onload="parent.ran = 1"><h1>Tenant screening report</h1><img src="x" onerror="parent.ran = 1"><img src="${elsewhere}/pixel.png">
<svg onload="parent.ran = 1"></svg><iframe srcdoc="&lt;script&gt;parent.parent.ran = 1&lt;/script&gt;"></iframe>
<iframe src="${elsewhere}/frame"></iframe><object data="${elsewhere}/object"></object>
<a id="script" href="javascript:parent.ran=1">one</a><a id="top" target="_top" href="${elsewhere}/top">two</a>
<a id="blank" target="_blank" href="${elsewhere}/blank">three</a><a id="self" target="_self" href="${elsewhere}/self">four</a>
<a id="parent" target="_parent" href="${elsewhere}/parent">five</a>
<form action="${elsewhere}/form" method="post" target="_top"><input name="ssn"><button id="send">send</button></form>
<video autoplay src="${elsewhere}/video"></video></body></html>`,
          })
        : route.continue(),
    );
    // A server of the test answers at this address, so that a request that gets through has a reply.
    const reached: string[] = [];
    page.on('response', (response) => response.url().startsWith(elsewhere) && reached.push(response.url()));
    await host.mount({ account: 'nopay', options: { screeningId: body.id } });
    await host.hears('onScreeningSuccess');
    const report = host.frame.frameLocator('iframe.report-page');
    await report.getByRole('heading', { name: 'Tenant screening report' }).waitFor();
    const popups: string[] = [];
    page.on('popup', (popup) => popups.push(popup.url()));
    for (const id of ['script', 'top', 'blank', 'parent', 'send', 'self'])
      await report.locator(`#${id}`).dispatchEvent('click');
    // The journey is still open and can continue.
    await host.press(host.frame.getByRole('button', { name: 'Not now' }));
    expect(await host.hears('onReportShareDeclined')).toEqual({ sessionId: body.id });
    for (const frame of page.frames())
      expect(await frame.evaluate(() => 'ran' in globalThis).catch(() => false)).toBe(false);
    expect(page.url()).toBe(`${embedding.hostOrigin}/`);
    expect(popups).toEqual([]);
    expect(reached).toEqual([]);
  });
});
