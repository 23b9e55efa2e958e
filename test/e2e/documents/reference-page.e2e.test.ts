// The reference page in a real browser: it shows every API, stays on its origin, and its calls work with the demo keys
// (docs/contract/general.md#documents).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
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
  /** Sends the call of a page of the reference with one credential. The body is the one that the page proposes. */
  async function call(hash: string, credential: string): Promise<any> {
    await open(`/docs#${hash}`);
    await page
      .getByRole('button', { name: new RegExp(`Test Request.*${hash.split('POST')[1]!}\\)`) })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const place: Locator = dialog.locator('.scalar-password-input').first();
    await place.fill(credential);
    // The page takes the value over after a moment.
    let reply = { status: 0, body: {} as any };
    await until('a call with the credential is answered', async () => {
      const replied = page.waitForResponse((response) => response.request().method() === 'POST');
      await dialog.getByRole('button', { name: /^Send/ }).first().click();
      const response = await replied;
      reply = { status: response.status(), body: await response.json() };
      return reply.status !== 401;
    });
    expect(reply.status).toBe(200);
    return reply.body;
  }

  it('exchanges the demo key for a token with which a person is submitted', async () => {
    const { demo } = (await service.credentials()).accounts;
    const { token } = await call('platform/tag/auth/POST/auth/token/exchange', demo.publishableKey);
    await page.context().close();
    const submitted = await call('platform/tag/screening/POST/screening/submit', token);
    expect(submitted.status).toBe('STEP_UP_REQUIRED');
  });

  it('makes a session grant with the secret key', async () => {
    const { demo } = (await service.credentials()).accounts;
    const grant = await call('server/tag/session-grants/POST/v1/sessions', demo.secretKey);
    expect(grant.object).toBe('session_grant');
  });
});
