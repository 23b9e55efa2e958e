// The demo page as a person who tries the product sees it: `npm start`, the first printed address, a real browser.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type FrameLocator,
  type Locator,
  type Page,
} from 'playwright-core';
import { browserArguments, pageBrowser } from '../support/browsers.js';
import { DetailsForm } from '../support/details-form.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/redis.js';
import type { Credentials } from '../support/service.js';

const PATIENCE_MS = 20_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let dataDir: string;
let env: NodeJS.ProcessEnv;
let program: ChildProcess;
let output: string;
let browser: Browser;
let demo: string;
let credentials: Credentials;
let page: Page;
let problems: string[];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'demo-page-'));
  const [port, sandboxPort, demoPort] = [await freePort(), await freePort(), await freePort()].map(String);
  const ports = { PORT: port, SANDBOX_PORT: sandboxPort, DEMO_PORT: demoPort };
  // The user's setting, for an endpoint that does not belong to the demo.
  env = { PATH: process.env['PATH'], DATA_DIR: dataDir, WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', ...ports };
  browser = await chromium.launch({ executablePath: pageBrowser, args: browserArguments() });
  await start();
  demo = /https?:\/\/\S+/.exec(output)?.[0] ?? '';
  credentials = JSON.parse(readFileSync(join(dataDir, 'demo-credentials.json'), 'utf8'));
});

afterEach(() => page?.context().close());

afterAll(async () => {
  await browser.close();
  await stop();
  rmSync(dataDir, { recursive: true });
});

async function start(): Promise<void> {
  output = '';
  program = spawn(process.execPath, ['scripts/start.mjs'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until('it has started', () => output.includes('Ctrl-C') || program.exitCode !== null);
  if (program.exitCode !== null) throw new Error(output);
}

async function stop(): Promise<void> {
  const ended = once(program, 'exit');
  program.kill('SIGTERM');
  await ended;
}

describe('the demo page', () => {
  it('shows the component of the first persona at once, and of another persona after a click', async () => {
    await open();
    await page.getByRole('heading', { name: '12 Elm Street, Apt 4, Austin' }).waitFor();
    expect(await frame().getByRole('textbox', { name: 'Last name' }).inputValue()).toBe('Rivera');
    const exchange = page.waitForRequest(/\/auth\/token\/exchange$/);
    await page.getByRole('button', { name: 'Asked for a code' }).click();
    expect((await exchange).headers()['x-session-token']).toBeUndefined();
    await event('onReady').nth(1).waitFor();
    expect(await page.locator('#component iframe').count()).toBe(1);
    expect(await frame().getByRole('textbox', { name: 'Last name' }).inputValue()).toBe('Otptest');
    expect(await page.locator('#component').and(page.locator(':focus')).count()).toBe(1);
    await event('onReady').first().locator('summary').click();
    expect(await event('onReady').first().locator('pre').innerText()).toContain('"view": "screening"');
    expect(problems).toEqual([]);
  });

  it('shows the callbacks of single typed letters only on request', async () => {
    await open();
    await frame().getByRole('textbox', { name: 'First name' }).fill('Sam');
    await frame().getByRole('textbox', { name: 'Last name' }).fill('Lee');
    expect(await event('onChange').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Show each change' }).check();
    await event('onChange').first().waitFor();
  });

  it('mounts the view that the options describe, under a grant of its server, and gives the reason when it cannot mount', async () => {
    await open();
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Session grant').selectOption('own');
    const exchange = page.waitForRequest(/\/auth\/token\/exchange$/);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    expect((await exchange).headers()['x-session-token']).toMatch(/^sgt_test_/);
    await event('onReady').nth(1).waitFor();
    await page.getByRole('button', { name: 'As code' }).click();
    const code = await page.locator('#code').textContent();
    for (const part of ['<div id="component">', '/embed/v1/service.js"></script>', 'theme: "dark"', 'sessionToken: '])
      expect(code).toContain(part);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByLabel('Unit address').fill('');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.locator('#status', { hasText: 'unitAddress must be 1 to 255 characters' }).waitFor();
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByRole('button', { name: 'Remove the component' }).click();
    expect(await page.locator('#component iframe').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('speaks Spanish together with the component', async () => {
    await open({ locale: 'es-MX' });
    await page.getByRole('button', { name: 'Buen inquilino' }).waitFor();
    await frame().getByRole('textbox', { name: 'Apellido' }).first().fill('Prueba');
    await page.locator('#timeline').getByText('El componente está listo').waitFor();
    await page.getByLabel('Idioma').selectOption('en');
    await frame().getByRole('textbox', { name: 'Last name' }).waitFor();
    // The component changes its language and keeps what was typed.
    expect(await frame().getByRole('textbox', { name: 'Last name' }).inputValue()).toBe('Prueba');
    expect(await event('onReady').count()).toBe(1);
    await page.getByRole('button', { name: 'Good renter' }).waitFor();
    // An English text that is still shown has no Spanish translation.
    await page.getByLabel('Language').selectOption('es');
    for (const text of ['Apply now', 'Events', 'Who applies?', 'Good renter', 'The component is ready'])
      expect([text, await page.getByText(text, { exact: true }).count()]).toEqual([text, 0]);
    expect(problems).toEqual([]);
  });

  it('can be used with the keyboard alone', async () => {
    await open();
    await page.getByRole('tab', { name: 'Renter' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Apply now' }).press('Enter');
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => (globalThis as any).document.activeElement.tagName === 'IFRAME');
  });

  it('receives signed webhooks from the beginning, with one endpoint for pages that open together', async () => {
    await open();
    await page.getByText('signed webhooks that the server of this page verifies').waitFor();
    const registered = await endpoints('demo');
    expect(registered).toEqual([expect.stringMatching(/^https:\/\/127\.5\.173\.1:\d+\/demo$/)]);
    const { origin } = new URL(demo);
    const asked = JSON.stringify({ account: 'demo' });
    const replies = await Promise.all([1, 2, 3].map(() => sent('POST', '/webhooks', { origin }, asked)));
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    const sessionId = await submitted();
    const item = event('screening.step_up_required');
    await item.waitFor();
    expect(await item.innerText()).toContain('Signature verified');
    await item.locator('summary').click();
    expect(await item.innerText()).toMatch(/Delivery [\da-f-]{36}/);
    expect(await item.innerText()).toContain(sessionId);
    await page.getByText('Deliveries as the service sees them').click();
    await page
      .locator('#delivery-log li', { hasText: 'screening.step_up_required' })
      .locator('summary')
      .first()
      .click();
    await page.locator('#delivery-log').getByText('"status": "succeeded"').first().waitFor();
    // A page that is opened later shows the earlier webhooks.
    await page.reload();
    await item.waitFor();
    expect(problems).toEqual([]);
  });

  it('says nothing about webhooks until it knows whether they arrive', async () => {
    await open({}, async () => {
      await page.addInitScript(() => {
        const { document, MutationObserver } = globalThis as any;
        const shown: string[] = ((globalThis as any).shown = []);
        new MutationObserver(() => {
          const panel = ['#webhooks-status', '#receive:not([hidden])'].map((each) => document.querySelector(each));
          shown.push(...panel.map((each) => each?.textContent ?? '').filter((text) => text !== ''));
        }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      });
      // The account has no endpoint at first, as on the first visit.
      await page.route(
        ({ pathname }) => pathname === '/webhooks',
        (route) => route.fulfill({ json: { missing: null, receiving: false, occupiedBy: null, trouble: null } }),
        { times: 1 },
      );
    });
    await page.getByText('signed webhooks that the server of this page verifies').waitFor();
    const shown: string[] = await page.evaluate(() => (globalThis as any).shown);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((text) => /No webhooks arrive|Receive webhooks/.test(text))).toEqual([]);
  });

  it('leads from the renter who applies to the landlord who reads the report, until the renter stops sharing', async () => {
    await open();
    const card = frame().locator('iframe').first().contentFrame();
    const pay = async (number: string): Promise<void> => {
      await card.getByLabel('Card number').fill(number);
      await card.getByLabel('Expiration date').fill('1230');
      await card.getByLabel('Security code').fill('123');
      await card.getByLabel('ZIP code').fill('78701');
      await frame().getByRole('button', { name: /^Pay/ }).click();
    };
    await page.getByRole('button', { name: 'Asked for a code' }).click();
    await event('onReady').nth(1).waitFor();
    await new DetailsForm(frame()).fill({ ssn: '666443210' });
    await frame().getByRole('button', { name: 'Continue' }).click();
    const code = frame().getByRole('textbox', { name: 'Code', exact: true });
    await code.waitFor();
    // A reload continues the session that was opened.
    await page.reload();
    await code.fill('123456');
    await event('onVerificationSuccess').waitFor();
    await pay('4000000000000002');
    await frame().getByText('declined the card').waitFor();
    await pay('4242424242424242');
    const share = frame().getByRole('button', { name: 'Share my report' });
    await share.waitFor();
    const session = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('screeningId') ?? '';
    const read = (): ReturnType<typeof sent> => sent('GET', `/landlord/report?account=demo&session=${session}`);
    expect([session.length, (await read()).status]).toEqual([36, 404]);
    await share.click();
    await event('onReportShared').waitFor();
    await event('report.shared').waitFor();

    await page.getByRole('tab', { name: 'Landlord' }).click();
    const application = page.locator('#applications li', { hasText: session.slice(-8) });
    await application.getByText('Shared with you').waitFor();
    await application.getByRole('button', { name: 'Open the report' }).click();
    await page.frameLocator('#report-place iframe').getByRole('heading').first().waitFor();
    expect((await read()).status).toBe(200);

    await page.getByRole('tab', { name: 'Renter' }).click();
    await frame().getByRole('button', { name: 'Stop sharing', exact: true }).click();
    await frame().getByRole('button', { name: 'Stop sharing for good' }).click();
    await event('onReportRevoked').waitFor();
    await event('report.revoked').waitFor();
    await page.getByRole('tab', { name: 'Landlord' }).click();
    await application.getByText('Stopped sharing').waitFor();
    expect(await page.locator('#report-place iframe').count()).toBe(0);
    expect(await application.getByRole('button').count()).toBe(0);
    const { status, body } = await read();
    expect([status, body]).toEqual([404, expect.stringContaining('has stopped sharing')]);
    for (const type of ['payment.succeeded', 'screening.completed'])
      expect([type, await event(type).count()]).not.toEqual([type, 0]);
    // The decline is an answer of the processor, not a fault.
    expect(problems.filter((problem) => !problem.includes('402'))).toEqual([]);
  });

  it('replaces an endpoint of the user only on request', async () => {
    const { body } = await dashboard('nopay', 'POST', '/tsp/webhooks', { url: 'https://127.0.0.1:1/mine' });
    await open();
    await page.getByRole('button', { name: 'Options' }).click();
    await page.locator('#account').selectOption('nopay');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(`The account has an endpoint at ${body.url}`).waitFor();
    expect(await endpoints('nopay')).toEqual([body.url]);
    await page.getByRole('button', { name: 'Replace that endpoint' }).click();
    await page.getByText('signed webhooks that the server of this page verifies').waitFor();
    expect(await endpoints('nopay')).toEqual([expect.stringMatching(/^https:\/\/127\.5\.173\.1:\d+\/nopay$/)]);
  });

  it.each<[string, BrowserContextOptions]>([
    ['wide', { viewport: { width: 1440, height: 900 } }],
    ['in the dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 320, height: 640 } }],
    ['on a phone, in Spanish', { viewport: { width: 320, height: 640 }, locale: 'es-US' }],
  ])('is accessible and fits the screen: %s', async (_, context) => {
    await open(context);
    await submitted();
    await event('screening.step_up_required').first().waitFor();
    const audit = async (place: string): Promise<void> => {
      for (const summary of await page.locator(`${place} details:not([open]) > summary`).all())
        if (await summary.isVisible()) await summary.click();
      expect(await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth)).toBe(
        context.viewport?.width,
      );
      const { violations } = await page.evaluate(() => (globalThis as any).axe.run());
      expect(violations.map(({ id, nodes }: any) => [id, nodes[0].html])).toEqual([]);
    };
    await page.evaluate(AXE);
    await audit('.columns');
    await page.getByRole('tab').nth(1).click();
    await audit('#landlord');
    for (const dialog of ['code', 'options']) {
      await page.locator(`#open-${dialog}`).click();
      await audit(`#${dialog}-dialog`);
      await page.keyboard.press('Escape');
    }
  });

  it('continues when the program starts again, and says since when the landlord has received applications', async () => {
    await open();
    await submitted();
    const told = event('screening.step_up_required');
    await told.first().waitFor();
    await stop();
    await page.getByText('The server of this page does not answer.').waitFor();
    await start();
    await page.getByText('signed webhooks that the server of this page verifies').waitFor();
    expect(await told.count()).toBe(0);
    const later = await submitted();
    await told.filter({ hasText: later }).waitFor();
    await page.getByRole('tab', { name: 'Landlord' }).click();
    await page.getByText('since the server of this page started').waitFor();
    expect(await page.locator('#applications li').allInnerTexts()).toEqual([expect.stringContaining(later.slice(-8))]);
  });

  it('shows the report and its notices to the landlord in Spanish', async () => {
    const notice = await sent('GET', '/landlord/report?account=demo&language=es');
    expect(notice).toMatchObject({ status: 404, body: expect.stringContaining('<html lang="es">') });
    expect(notice.body).toContain('no se comparte');
  });

  it('has a button for each persona in docs/sandbox.md', async () => {
    await open();
    const table = /^\| lastName \| The identity vendor \|\n([\s\S]*?)\n\n/m.exec(
      readFileSync('docs/sandbox.md', 'utf8'),
    );
    const documented = [...(table?.[1] ?? '').matchAll(/^\| ([\w, ]+) \|/gm)].flatMap(([, names]) =>
      names!.split(', '),
    );
    const shown = await page
      .locator('[data-persona]')
      .evaluateAll((chips: any[]) => chips.map(({ dataset }) => dataset.persona as string));
    expect(documented.length).toBeGreaterThan(20);
    expect(shown.filter((name) => name !== 'Rivera').sort()).toEqual(documented.sort());
  });
});

describe('the server of the demo page, which holds secret keys', () => {
  const grant = JSON.stringify({ account: 'demo' });

  it('redirects every request that has a foreign host name', async () => {
    const { origin, port } = new URL(demo);
    for (const host of ['elsewhere.example.test', `elsewhere.example.test:${port}`, `localhost.example.test:${port}`])
      for (const path of [
        '/',
        '/config.json',
        '/webhooks?account=demo',
        '/webhooks/stream?account=demo',
        '/landlord/report?account=demo',
        '//',
      ])
        expect([host, path, await sent('GET', path, { host })]).toEqual([
          host,
          path,
          { status: 307, location: origin, body: '' },
        ]);
    expect((await sent('POST', '/grant', { host: 'elsewhere.example.test', origin }, grant)).status).toBe(307);
  });

  it('refuses every request of a page from another origin', async () => {
    const { origin } = new URL(demo);
    const foreign: OutgoingHttpHeaders[] = [
      {},
      { origin: 'null' },
      { origin: 'https://elsewhere.example.test' },
      { origin: `${origin}.example.test` },
      { origin: origin.replace('http:', 'https:') },
      { origin: origin.replace('localhost', '127.0.0.1') },
    ];
    const before = await endpoints('demo');
    for (const headers of foreign) {
      for (const path of ['/grant', '/webhooks']) expect((await sent('POST', path, headers, grant)).status).toBe(403);
      if (headers.origin === undefined) continue;
      for (const path of ['/config.json', '/webhooks/stream?account=demo', '/landlord/report?account=demo'])
        expect([path, (await sent('GET', path, headers)).status]).toEqual([path, 403]);
    }
    // Only the guarded method changes something. Another method gets 404.
    for (const path of ['/grant', '/webhooks/deliveries?account=x', '/webhooks?account=__proto__'])
      expect([path, (await sent('GET', path)).status]).toEqual([path, 404]);
    expect(await endpoints('demo')).toEqual(before);
    expect((await sent('POST', '/grant', { origin }, grant)).status).toBe(200);
  });

  it('survives malformed requests', async () => {
    const { origin } = new URL(demo);
    const answers: [string, number][] = [
      ['//', 400],
      ['//:', 400],
      ['http://[', 400],
      ['///', 400],
      ['/%', 404],
      ['/assets/../../package.json', 404],
      ['/assets/%2e%2e/index.html', 404],
    ];
    for (const [path, status] of answers) expect([path, (await sent('GET', path)).status]).toEqual([path, status]);
    for (const body of ['', '{', 'null', '[]', '7', '{"account":"__proto__"}', '{"account":{"toString":1}}'])
      expect((await sent('POST', '/grant', { origin }, body)).status).toBeGreaterThanOrEqual(400);
    expect((await sent('GET', '/')).status).toBe(200);
    expect(program.exitCode).toBeNull();
  });

  it('gives the page only publishable keys', async () => {
    const secrets = Object.values(credentials.accounts).flatMap(({ secretKey, apiKey, dashboardTokens }: any) =>
      [secretKey, apiKey, ...Object.values(dashboardTokens ?? {})].filter((secret) => typeof secret === 'string'),
    );
    expect(secrets.length).toBeGreaterThan(5);
    await open();
    const bodies: string[] = [];
    page.on('response', (response) => {
      if (!response.url().endsWith('/stream'))
        void response.text().then(
          (text) => bodies.push(text),
          () => undefined,
        );
    });
    await page.reload();
    await page.getByText('signed webhooks that the server of this page verifies').waitFor();
    await page.getByText('Deliveries as the service sees them').click();
    await until('it has the configuration', () => bodies.some((body) => body.includes('publishableKey')));
    const seen = [...bodies, await page.content()].join('\n');
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
    expect(seen).not.toContain('whsec_');
  });
});

/** Sends the request to the demo page's server without a change. Browsers and fetch would correct the path. */
function sent(
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body = '',
): Promise<{ status: number | undefined; location: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const { port, host } = new URL(demo);
    const asked = request({ host: '127.0.0.1', port, method, path, headers: { host, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response
        .on('error', reject)
        .on('end', () => resolve({ status: response.statusCode, location: response.headers.location, body: text }));
    });
    asked.on('error', reject).end(body);
  });
}

/** `prepare` changes the page before it loads. */
async function open(context: BrowserContextOptions = {}, prepare?: () => Promise<void>): Promise<void> {
  const browsing = await browser.newContext({ locale: 'en-US', ...context });
  page = await browsing.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  // Content security policies report their violations here.
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await prepare?.();
  await page.goto(demo);
  await event('onReady').waitFor();
}

const frame = (): FrameLocator => page.frameLocator('#component iframe');

/** The entries of the timeline for a callback or a webhook. */
const event = (name: string): Locator => page.locator(`#timeline li[data-name="${name}"]`);

async function dashboard(
  account: 'demo' | 'nopay',
  method: string,
  path: string,
  body?: object,
): Promise<{ body: any }> {
  const { owner } = credentials.accounts[account].dashboardTokens;
  const response = await fetch(credentials.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { body: await response.json() };
}

const endpoints = async (account: 'demo' | 'nopay'): Promise<string[]> =>
  (await dashboard(account, 'GET', '/tsp/webhooks')).body.map(({ url }: { url: string }) => url);

/** Submits a person who must enter a code, as the component does. Returns the id of the session. */
let applicants = 0;

/** Each applicant is another person with another phone, because the service limits submissions and codes. */
async function submitted(): Promise<string> {
  const send = async (path: string, headers: Record<string, string>, body?: object): Promise<any> => {
    const all = { origin: demo, 'content-type': 'application/json', ...headers };
    const response = await fetch(credentials.baseUrl + path, {
      method: 'POST',
      headers: all,
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const { publishableKey } = credentials.accounts.demo;
  const { token } = await send('/auth/token/exchange', { 'x-publishable-key': publishableKey }, {});
  const { id, error } = await send(
    '/screening/submit',
    { authorization: `Bearer ${token}` },
    {
      ...{
        firstName: 'Robin',
        lastName: 'Otptest',
        dateOfBirth: '04151988',
        ssn: String(666_440_000 + ++applicants),
        phoneNumber: String(5_125_550_100 + applicants),
      },
      ...{ currentAddress: '100 Main St', currentCity: 'Austin', currentState: 'TX', currentZip: '78701' },
      ...{ jscPayload: 'demo', userType: 'CONSUMER', termsAcceptedAt: new Date().toISOString() },
    },
  );
  if (id === undefined) throw new Error(error?.message);
  return id;
}
