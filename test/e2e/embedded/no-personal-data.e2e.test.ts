// Guarantee: no personal data crosses from the frame to the page that embeds it, and none is left behind. The tests
// cover messages, callbacks, addresses, storage, consoles, the service's log, its files and Redis. Canaries are values
// that the tests type into the fields and values that the vendors invent. The tests search for canaries in everything
// that a browser writes or sends.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame, Locator, Page, Request } from 'playwright-core';
import { filesBelow, findingsOf, RedisCapture } from '../../support/canaries.js';
import { DetailsForm, type Typed } from '../../support/details-form.js';
import { Embedding, type HostPage, type MountWish } from '../../support/embedding.js';
import { PlatformCaller, WITH_BROWSER } from '../../support/service.js';

/** Types of the functions that run in the browser. */
declare const document: any;
declare const navigator: any;

const TYPED = {
  'First name': 'Canarybird',
  'Middle name': 'Middlebird',
  'Date of birth': '11091971',
  'Social Security number': '987013377',
  'Mobile phone number': '(202) 555-0177',
  'Email address': 'canary.bird@example.test',
  'Street address': '4711 Canary Cage Lane',
  City: 'Featherville',
  'ZIP code': '83647-2917',
} as const;
const WRONG_CODE = '98765432';
const UNIT = '4712 Canary Perch Road';
const CARDS = { good: '4242424242424242', declined: '4000000000000002' } as const;
/**
 * These values are too short to search for among many digits. The test searches for such values only as separate words.
 */
const SHORT = ['"739"', '"12 / 39"', '"12/39"', '"1239"', '"54321"'];

const PERSON: Readonly<Record<string, string>> = {
  ...TYPED,
  'birth date, written': '11/09/1971',
  'birth date, sortable': '1971-11-09',
  'SSN, grouped': '987-01-3377',
  'phone, digits': '2025550177',
  'phone, grouped': '202-555-0177',
};
const CARD: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CARDS).flatMap(([name, number]) => [
    [`${name} card`, number],
    [`${name} card, grouped`, number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')],
  ]),
);
/** Canaries that are known only during the run: the questions and the report. */
const learned = new Map<string, string>();
const all = (): [string, string][] => [...Object.entries({ ...PERSON, ...CARD, 'wrong code': WRONG_CODE }), ...learned];

/** Adds all values of a body that describe a person and differ between persons. */
function learn(what: string, body: unknown): void {
  if (typeof body === 'string') {
    if (body.length >= 8 && !/^[A-Z0-9_]+$|^\d{4}-\d\d-\d\d/.test(body)) learned.set(`${what} ${learned.size}`, body);
  } else if (typeof body === 'object' && body !== null) for (const value of Object.values(body)) learn(what, value);
}

/** A text and the place where it was seen. */
type Seen = readonly [where: string, text: string];

let embedding: Embedding;
let capture: RedisCapture;
let host: HostPage;
let page: Page;
/** Messages that windows and ports of an origin sent or received. */
let messages: { readonly kind: string; readonly at: string; readonly text: string }[];
let sent: Request[];
let seen: Seen[];

beforeAll(async () => {
  embedding = await Embedding.start(
    { ...WITH_BROWSER, LOG_LEVEL: 'trace', OTP_RESEND_INTERVAL: '0' },
    { alone: ['service'] },
  );
  capture = new RedisCapture(embedding.service.redis.client());
});
afterAll(() => embedding?.stop());
afterEach(() => host?.close());

/** Opens a page that records everything that a window sends. */
async function open(wish: MountWish): Promise<void> {
  [messages, sent, seen] = [[], [], []];
  host = await embedding.open();
  page = host.page;
  await page.context().exposeBinding('written', ({ frame }, kind: string, text: string) => {
    messages.push({ kind, at: new URL(frame.url()).origin, text });
  });
  await page.context().addInitScript(() => {
    const global = globalThis as any;
    const { written } = global;
    const write = (kind: string, data: unknown): void => {
      try {
        written(kind, JSON.stringify(data) ?? String(data));
      } catch {
        written(kind, String(data));
      }
    };
    for (const [owner, name] of [
      [global.MessagePort.prototype, 'postMessage'],
      [global.BroadcastChannel.prototype, 'postMessage'],
      [global.Window.prototype, 'postMessage'],
      [global, 'postMessage'],
    ]) {
      const original = owner[name];
      if (typeof original !== 'function') continue;
      owner[name] = function (data: unknown, ...rest: unknown[]) {
        write('sent', data);
        return original.call(this, data, ...rest);
      };
    }
    // A script of the test cannot change the window of another origin. A message to such a window is recorded when it
    // arrives.
    global.addEventListener('message', (event: any) => write('arrived', event.data));
  });
  page.context().on('request', (request) => sent.push(request));
  await page.goto(embedding.hostOrigin);
  await host.mount(wish);
  await host.hears('onReady');
}

/** Records, for every window, the data that the browser stores and shows outside the document of the frame. */
async function look(stage: string): Promise<void> {
  for (const frame of page.frames()) {
    const where = `${stage}: ${new URL(frame.url().startsWith('http') ? frame.url() : 'http://inner').origin}`;
    seen.push([where, JSON.stringify(await frame.evaluate(keptBy, frame.url() === 'about:srcdoc'))]);
    seen.push([`${where} address`, frame.url()]);
  }
  seen.push([`${stage}: cookies`, JSON.stringify(await page.context().storageState({ indexedDB: true }))]);
  seen.push([`${stage}: document of the page`, await page.content()]);
}

/** This function runs in the browser. Only the report's own document has the person's name as its title. */
async function keptBy(isReport: boolean): Promise<unknown> {
  const { indexedDB, history, location, name, performance } = globalThis as any;
  // A browser that stores no third-party data throws an error here.
  const attempt = async (read: () => unknown): Promise<unknown> => {
    try {
      return await read();
    } catch {
      return null;
    }
  };
  return {
    storage: await attempt(() => ({ ...(globalThis as any).localStorage })),
    session: await attempt(() => ({ ...(globalThis as any).sessionStorage })),
    databases: await attempt(() => indexedDB.databases()),
    caches: await attempt(() => (globalThis as any).caches.keys()),
    history: [history.length, history.state, location.href, document.referrer, isReport || document.title, name],
    entries: performance.getEntries().map((entry: any) => entry.name),
    cookie: await attempt(() => document.cookie),
    workers: await attempt(async () => (await navigator.serviceWorker.getRegistrations()).length),
  };
}

/** The places that hold a canary, except values that the page itself sends. */
async function findings(): Promise<string[]> {
  const { service, hostOrigin } = embedding;
  const told = JSON.stringify(await host.told());
  const texts: Seen[] = [
    ...seen,
    ['a callback', told],
    ['the console', host.console.join('\n')],
    ...messages
      .filter(({ kind, at }) => kind === 'arrived' || at !== hostOrigin)
      .map(({ kind, at, text }): Seen => [`a message that ${kind} at ${at}`, text]),
  ];
  const found = texts.flatMap(([where, text]) => findingsOf(all(), where, Buffer.from(text)));
  for (const [where, text] of texts.filter(([where]) => where.startsWith('a ')))
    for (const value of SHORT) if (text.includes(value)) found.push(`${value} in ${where}`);
  for (const request of sent) {
    const { origin, pathname } = new URL(request.url());
    const body = request.postData() ?? '';
    const head = `${request.url()}\n${JSON.stringify(request.headers())}`;
    found.push(...findingsOf(all(), `the head of ${pathname}`, Buffer.from(head)));
    const isApi = origin === service.baseUrl;
    const mayHold = [
      ...(isApi && pathname === '/screening/submit' ? Object.keys(PERSON) : []),
      ...(isApi && pathname.endsWith('/otp') ? ['wrong code'] : []),
      ...(origin === service.sandboxUrl ? Object.keys(CARD) : []),
      // The browser sends back the page for printing exactly as it received it.
      ...(isApi && pathname.endsWith('/pdf') ? [...learned.keys(), ...Object.keys(PERSON)] : []),
    ];
    const forbidden = all().filter(([name]) => !mayHold.includes(name));
    found.push(...findingsOf(forbidden, `the body of ${pathname}`, Buffer.from(body)));
  }
  return [...new Set(found)];
}

const field = (label: string) => host.frame.getByRole('textbox', { name: label, exact: label === 'Code' });
const button = (name: string | RegExp) => host.frame.getByRole('button', { name, exact: typeof name === 'string' });

/** Types each key like a person. Text that is filled in at once would stay in the memory of the driver. */
async function typeInto(field: Locator, text: string): Promise<void> {
  await field.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}
const type = (label: string, text: string): Promise<void> => typeInto(field(label), text);
const details = (): DetailsForm => new DetailsForm(host.frame, 'en', typeInto);

/** Leads the person to the last screen. */
function typeDetails(lastName: string, ssn: string, given: readonly string[] = []): Promise<void> {
  const typed: Typed = {
    firstName: TYPED['First name'],
    middleName: TYPED['Middle name'],
    lastName,
    dateOfBirth: TYPED['Date of birth'],
    ssn,
    phoneNumber: TYPED['Mobile phone number'],
    email: TYPED['Email address'],
    currentAddress: TYPED['Street address'],
    currentCity: TYPED.City,
    currentState: 'ID',
    currentZip: TYPED['ZIP code'],
  };
  return details().fill(Object.fromEntries(Object.entries(typed).filter(([name]) => !given.includes(name))));
}

async function pay(number: string): Promise<void> {
  await button(/^Pay/).waitFor();
  const card = host.frame.frameLocator('iframe[src*="payment-element"]');
  await card.getByLabel('Card number').fill(number);
  await card.getByLabel('Expiration date').fill('12 / 39');
  await card.getByLabel('Security code').fill('739');
  await card.getByLabel('ZIP code').fill('54321');
  await host.press(button(/^Pay/));
}

function theFrame(): Frame {
  const frame = page.frames().find((each) => each.url().startsWith(embedding.credentials.embeddedUrl));
  if (frame === undefined) throw new Error('There is no frame.');
  return frame;
}

/** Everything that scripts of the frame can still read. */
async function memoryOfTheFrame(): Promise<string> {
  const devtools = await page.context().newCDPSession(theFrame());
  const chunks: string[] = [];
  devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await devtools.send('HeapProfiler.enable');
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await devtools.detach();
  return chunks.join('');
}

async function byCodeAndCard(): Promise<void> {
  await open({ options: { unitAddress: UNIT } });
  await typeDetails('Addresstest', TYPED['Social Security number']);
  await type('ZIP code', '12');
  await host.press(button('Continue'));
  await host.frame.getByRole('alert').getByText('Please check these fields').waitFor();
  await look('a typing error');
  await type('ZIP code', TYPED['ZIP code']);
  await host.press(button('Continue'));
  expect(await host.hears('onError')).toMatchObject({ code: 'INVALID_ADDRESS' });
  await look('a refusal');
  await details().backTo('lastName');
  await type('Last name', 'Otptest');
  await details().goOn();
  // The memory still holds the data at this point. The search must find the data, or the search itself is broken.
  expect(findingsOf(Object.entries(PERSON), 'memory', Buffer.from(await memoryOfTheFrame()))).toContain(
    'Social Security number in memory',
  );
  await host.press(button('Continue'));

  await field('Code').waitFor();
  const markup = await theFrame().content();
  expect(findingsOf(all(), 'the frame', Buffer.from(markup))).toEqual([]);
  expect(await host.frame.locator('input').evaluateAll((inputs: any[]) => inputs.map(({ value }) => value))).toEqual([
    '',
  ]);
  const secret = all().filter(([name]) => /SSN|Social|birth/i.test(name));
  expect(findingsOf(secret, 'memory', Buffer.from(await memoryOfTheFrame()))).toEqual([]);

  await type('Code', WRONG_CODE);
  await host.press(button('Continue'));
  await host.frame.getByText('attempts left').or(host.frame.getByText('more attempts')).first().waitFor();
  await look('a wrong code');
  await type('Code', '123456');
  const { sessionId } = await host.hears('onVerificationSuccess');
  await pay(CARDS.declined);
  await host.frame.getByText('declined the card').waitFor();
  await look('a declined card');
  await pay(CARDS.good);
  await host.hears('onScreeningSuccess');
  await host.frame
    .frameLocator('iframe.report-page')
    .getByRole('heading', { name: 'Tenant screening report' })
    .waitFor();
  await look('the report');
  const download = page.waitForEvent('download');
  await host.press(button('Download PDF'));
  // A person keeps this file, so the file name tells whose report it is.
  expect((await download).suggestedFilename()).toMatch(/^screening-report-[a-z-]+-\d{4}-\d{2}-\d{2}\.pdf$/);
  await host.press(button('Share my report'));
  await host.hears('onReportShared');
  await host.press(button('Stop sharing'));
  await host.press(button('Stop sharing for good'));
  await host.hears('onReportRevoked');
  await look('the end');

  const { publishableKey } = embedding.credentials.accounts.demo;
  const exchanged = await embedding.service.request('POST', '/auth/token/exchange', {
    headers: { 'x-publishable-key': publishableKey, origin: embedding.hostOrigin },
  });
  const caller = new PlatformCaller(embedding.service, {
    origin: embedding.hostOrigin,
    authorization: `Bearer ${exchanged.body.token}`,
  });
  const report = await caller.get(`/reports/${sessionId}`);
  expect(report.status).toBe(200);
  const { consumer, tradeLines, publicRecords, inquiries, background, housingCourt } = report.body.report;
  learn('report', { consumer, tradeLines, publicRecords, inquiries, background, housingCourt });
}

async function byQuestionsWithPrefill(): Promise<void> {
  const prefill = {
    firstName: TYPED['First name'],
    email: TYPED['Email address'],
    currentZip: 'nowhere',
  };
  await open({ account: 'nopay', options: { unitAddress: UNIT, prefill } });
  expect(await host.hears('onWarning')).toMatchObject({ fields: ['currentZip'] });
  await typeDetails('Kbatest', '987013388', ['firstName', 'email']);
  await host.press(button('Continue'));
  for (let at = 0; at < 4; at += 1) {
    await host.frame.getByRole('heading', { name: `Question ${at + 1} of 4` }).waitFor();
    const question = host.frame.getByRole('radiogroup');
    learn('question', await question.evaluate(({ innerText }: any) => innerText.split('\n')));
    await question.getByRole('radio').nth(at).check();
    await look('questions');
    await host.press(button('Continue'));
  }
  await host.hears('onVerificationSuccess');
  await host.press(button('Not now'));
  await host.hears('onReportShareDeclined');
  await look('the end');
}

describe('no personal data', () => {
  it('of a person with a code and a card reaches the page, an address, storage or the console', async () => {
    await capture.during(byCodeAndCard);
    expect(messages.length).toBeGreaterThan(20);
    expect(new Set(messages.map(({ at }) => at))).toEqual(
      new Set([embedding.hostOrigin, embedding.service.baseUrl, embedding.service.sandboxUrl]),
    );
    expect([...learned.keys()]).toContainEqual(expect.stringMatching(/^report/));
    expect(await findings()).toEqual([]);
  });

  it('of a person with questions reaches these places, even if the page supplies some of the details', async () => {
    await capture.during(byQuestionsWithPrefill);
    expect([...learned.keys()]).toContainEqual(expect.stringMatching(/^question/));
    expect(await findings()).toEqual([]);
  });

  it('is in the files of the service, its log, its metrics or Redis', async () => {
    const { service } = embedding;
    const canaries = [...all(), ['unit address', UNIT] as [string, string]];
    const found = capture.findings(canaries);
    for (const file of filesBelow(service.dataDir))
      // The sandbox is outside the service, so its data does not count.
      if (!file.includes('/sandbox/'))
        found.push(...findingsOf(canaries, file.slice(service.dataDir.length), readFileSync(file)));
    found.push(...findingsOf(canaries, 'the log', Buffer.from(service.program.output)));
    found.push(...findingsOf(canaries, 'the metrics', Buffer.from((await service.request('GET', '/metrics')).text)));
    expect(service.program.output).toContain('"msg":"request"');
    expect([...new Set(found)]).toEqual([]);
  });
});
