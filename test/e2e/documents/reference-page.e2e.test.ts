// The reference page in a real browser: it shows every API, stays on its origin, and its calls work with the demo keys
// (docs/contract/general.md#documents).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { browserArguments, pageBrowser } from '../../support/browsers.js';
import { until } from '../../support/eventually.js';
import { Service } from '../../support/service.js';

/** For the functions that run in the browser. */
declare const document: any;

let service: Service;
let browser: Browser;
let page: Page;
/** Requests to other origins, refusals by the page's policy, and errors of scripts. */
let problems: string[];

beforeAll(async () => {
  [service, browser] = await Promise.all([
    Service.shared('plain'),
    chromium.launch({ executablePath: pageBrowser, args: browserArguments() }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});
afterEach(() => page.context().close());

async function open(path: string, { width = 1400, scheme = 'light' as 'light' | 'dark' } = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: scheme });
  page = await context.newPage();
  problems = [];
  const { origin } = new URL(service.baseUrl);
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) problems.push(`asked ${url.href}`);
  });
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (line) => {
    if (line.type() === 'error') problems.push(line.text());
  });
  await page.goto(service.baseUrl + path);
}

const APIS = [
  ['platform', 'Platform API', '/screening/submit'],
  ['server', 'Secret-key server API', '/v1/sessions'],
  ['direct', 'Direct API', '/api/pay/payment/checkout-session'],
  ['dashboard', 'Webhook management', '/tsp/webhooks'],
] as const;

describe('the reference page', () => {
  it.each(APIS)(
    'shows the introduction and the operations of an API, and stays on its origin: %s',
    async (name, title, path) => {
      await open(`/docs#${name}`);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      for (const part of ['authentication', 'first-calls', 'repeating-a-call', 'errors', 'limits'])
        await page.locator(`h2[id="${name}/description/${part}"]`).waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
      const { body } = await service.request('GET', `/openapi/${name}.json`);
      const { tags, summary } = body.paths[path].post;
      await open(`/docs#${name}/tag/${tags[0].replaceAll(' ', '-')}/POST${path}`);
      await page.getByRole('heading', { name: summary }).first().waitFor();
      await page.getByText(path).first().waitFor();
      expect(problems).toEqual([]);
    },
  );

  it('offers every API in its selector', async () => {
    await open('/docs');
    await page.getByRole('button', { name: 'Platform API' }).first().click();
    for (const [, title] of APIS) await page.getByRole('option', { name: title }).waitFor();
  });

  it.each([
    [375, 'light'],
    [375, 'dark'],
    [1280, 'dark'],
  ] as const)('fits a window of %i pixels, %s', async (width, scheme) => {
    await open('/docs', { width, scheme });
    await page.getByRole('heading', { name: 'Platform API', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await page.evaluate(() => document.body.classList.contains('dark-mode'))).toBe(scheme === 'dark');
    expect(problems).toEqual([]);
  });

  it('loads from its address with a slash at the end too', async () => {
    await open('/docs/');
    await page.getByRole('heading', { name: 'Platform API', level: 1 }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a call from the reference page', () => {
  /** Sends the call of a page of the reference with one credential. Path and body are those that the page proposes. */
  async function call(hash: string, credential: string): Promise<{ readonly path: string; readonly body: any }> {
    const [, method = '', path = ''] = /(GET|POST)(\/.*)$/.exec(hash) ?? [];
    await open(`/docs#${hash}`);
    await page
      .getByRole('button', { name: `(${method} ${path})` })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const place: Locator = dialog.locator('.scalar-password-input').first();
    await place.fill(credential);
    // The page takes the value over after a moment.
    let reply = { status: 0, path: '', body: {} as any };
    const called = (request: Request): boolean => ['fetch', 'xhr'].includes(request.resourceType());
    await until('a call with the credential is answered', async () => {
      const replied = page.waitForResponse((response) => called(response.request()));
      await dialog.getByRole('button', { name: /^Send/ }).first().click();
      const response = await replied;
      const { pathname } = new URL(response.url());
      reply = { status: response.status(), path: decodeURIComponent(pathname), body: await response.json() };
      return reply.status !== 401 && reply.status !== 403;
    });
    expect(reply.status).toBe(200);
    return reply;
  }

  it('exchanges the demo key for a token with which a person is submitted', async () => {
    const { demo } = (await service.credentials()).accounts;
    const { body } = await call('platform/tag/auth/POST/auth/token/exchange', demo.publishableKey);
    await page.context().close();
    const submitted = await call('platform/tag/screening/POST/screening/submit', body.token);
    const caller = await service.signIn('demo');
    // The submission itself may be answered before the vendor has answered.
    await until(
      'the person is asked for a code',
      async () => (await caller.status(submitted.body.id)).body.status === 'STEP_UP_REQUIRED',
    );
  });

  it('makes a session grant with the secret key', async () => {
    const { demo } = (await service.credentials()).accounts;
    const { body } = await call('server/tag/session-grants/POST/v1/sessions', demo.secretKey);
    expect(body.object).toBe('session_grant');
  });

  it('registers a renter with the API key, under an id that the page proposes', async () => {
    const { demo } = (await service.credentials()).accounts;
    const { path, body } = await call('direct/tag/renters/POST/api/idv/renters/{renterId}', demo.apiKey);
    expect(path).toBe('/api/idv/renters/renter-1');
    expect(body.payload.kba.questions).toHaveLength(4);
  });

  it('lists webhook endpoints with the dashboard token of an owner', async () => {
    const { demo } = (await service.credentials()).accounts;
    const { path, body } = await call('dashboard/tag/webhooks/GET/tsp/webhooks', demo.dashboardTokens.owner);
    expect(path).toBe('/tsp/webhooks');
    expect(Array.isArray(body)).toBe(true);
  });
});
