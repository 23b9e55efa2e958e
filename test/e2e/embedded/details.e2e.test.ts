// The step in which a person enters their details. The tests check the screen and the callbacks for each answer of the API and the device
// check.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Embedding, type HostPage, type MountWish } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';

let embedding: Embedding;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start();
});
afterAll(() => embedding.stop());
afterEach(() => host.close());

const PERSON = {
  'First name': 'Ana',
  'Last name': 'Smith',
  'Date of birth': '04121990',
  'Social Security number': '666123456',
  'Mobile phone number': '(415) 555-0134',
  'Street address': '1 Main St',
  City: 'Oakland',
  'ZIP code': '94105',
};
let people = 0;
/** An SSN that no other person has. */
const newSsn = (): string => `666${String(100_000 + ++people)}`;

async function mounted(wish: MountWish = {}, before: (host: HostPage) => Promise<unknown> = async () => undefined) {
  host = await embedding.open();
  await before(host);
  await host.mount(wish);
  await host.hears('onReady');
}

const field = (label: string) => host.frame.getByLabel(label, { exact: false }).and(host.frame.locator('.control'));
const problemOf = (label: string) =>
  host.frame
    .locator('.field')
    .filter({ has: field(label) })
    .locator('p.problem');
const send = () => host.press(host.frame.getByRole('button', { name: 'Continue' }));

async function fillIn(person: Partial<Record<keyof typeof PERSON, string>> = {}): Promise<void> {
  const values = { ...PERSON, 'Social Security number': newSsn(), ...person };
  for (const [label, value] of Object.entries(values)) await field(label).fill(value);
  await field('State').selectOption('CA');
  await host.frame.getByRole('checkbox').check();
}

/** Answers a submission in place of the service. */
const refusing =
  (status: number, error: object, headers = {}) =>
  (host: HostPage) =>
    host.page.route('**/screening/submit', (route) =>
      route.fulfill({
        status,
        json: { error: { message: 'No.', recoverable: status === 400, ...error } },
        headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After', ...headers },
      }),
    );

describe('The details', () => {
  it('can be filled in and sent by keyboard, and lead to the next step', async () => {
    await mounted();
    const { keyboard } = host.page;
    await field('First name').focus();
    for (const text of ['Ana', 'Otptest', '', '04121990']) {
      await keyboard.type(text);
      await keyboard.press('Tab');
    }
    await keyboard.press('Tab');
    await keyboard.type(newSsn());
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    for (const text of ['4155550134', '', '1 Main St', 'Oakland', 'California', '94105']) {
      await keyboard.type(text);
      await keyboard.press('Tab');
    }
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    expect(await host.hears('onStepComplete')).toEqual({ step: 'details' });
    expect(await host.hears('onStepStart', 2)).toEqual({ step: 'otp' });
    const changes = (await host.told()).filter(([name]) => name === 'onChange');
    expect(changes[0]![1]).toEqual({ step: 'details', complete: false });
    expect(changes.at(-1)![1]).toEqual({ step: 'details', complete: true });
    expect(JSON.stringify(await host.told())).not.toMatch(/Otptest|Oakland|4155550134/);
    expect(host.console.filter((line) => line.startsWith('uncaught') || /Security Policy/.test(line))).toEqual([]);
  });

  it('are hidden when they are secret, grouped while typed, and shown on demand', async () => {
    await mounted();
    const ssn = field('Social Security number');
    await ssn.pressSequentially('666123456');
    expect(await ssn.inputValue()).toBe('666-12-3456');
    const hidden = () => ssn.evaluate((input) => (globalThis as any).getComputedStyle(input).webkitTextSecurity);
    expect(await hidden()).toBe('disc');
    const show = host.frame.getByRole('button', { name: 'Show Social Security number' });
    await show.press('Enter');
    // Its name says what a press does.
    await host.frame.getByRole('button', { name: 'Hide Social Security number' }).getByText('Hide').waitFor();
    expect(await hidden()).toBe('none');
    await field('Date of birth').pressSequentially('4/7/1990');
    expect(await field('Date of birth').inputValue()).toBe('04/07/1990');
  });

  it('show a phone number in groups, and a foreign number as it was typed', async () => {
    await mounted({ options: { prefill: { phoneNumber: '5125550161' } } });
    const phone = field('Mobile phone number');
    expect(await phone.inputValue()).toBe('(512) 555-0161');
    for (const [typed, shown] of [
      ['+1 415.555.0134', '(415) 555-0134'],
      ['+44 20 7183 8750', '+44 20 7183 8750'],
    ] as const) {
      await phone.fill(typed);
      await phone.press('Tab');
      await until('the field has been left', async () => (await phone.inputValue()) === shown);
    }
    await problemOf('Mobile phone number').waitFor();
  });

  it('that are wrong show an error when the person leaves the field, and are listed on sending with the focus on the first', async () => {
    await mounted();
    await field('ZIP code').fill('12');
    await field('ZIP code').press('Tab');
    await problemOf('ZIP code').waitFor();
    expect(await field('ZIP code').getAttribute('aria-invalid')).toBe('true');
    await send();
    await host.frame.getByRole('alert').getByText('Please check these fields').waitFor();
    expect(await field('First name').evaluate((input) => input.ownerDocument.activeElement === input)).toBe(true);
    await host.frame.getByRole('alert').getByRole('button', { name: 'City' }).click();
    expect(await field('City').evaluate((input) => input.ownerDocument.activeElement === input)).toBe(true);
    await field('First name').fill('Ana');
    await problemOf('First name').waitFor({ state: 'detached' });
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });

  it('that are wrong in the focused field show an error at the first press', async () => {
    await mounted();
    await fillIn({ 'ZIP code': '12' });
    await field('ZIP code').focus();
    await send();
    await host.frame.getByRole('alert').getByText('Please check these fields').waitFor();
  });

  it('that the page supplies are filled in, and the page learns the names of the wrong ones', async () => {
    await mounted({
      options: { prefill: { firstName: 'Ana', currentState: 'TX', currentZip: 'nowhere', email: 'no mail' } },
    });
    expect(await field('First name').inputValue()).toBe('Ana');
    expect(await field('State').inputValue()).toBe('TX');
    expect(await field('ZIP code').inputValue()).toBe('');
    expect(await host.hears('onWarning')).toMatchObject({
      code: 'INVALID_PREFILL_FIELDS',
      fields: expect.arrayContaining(['currentZip', 'email']),
    });
  });

  it("are sent with the page's valid options and the version of the terms", async () => {
    await mounted({ options: { endUserType: 'REAL_ESTATE_AGENT', productId: 424_242 } });
    expect(await host.hears('onWarning')).toMatchObject({ code: 'INVALID_PRODUCT_ID' });
    await fillIn();
    await send();
    await host.hears('onVerificationSuccess');
    const { body } = host.requests.find(({ url, method }) => method === 'POST' && url.endsWith('/screening/submit'))!;
    expect(JSON.parse(body!)).toMatchObject({
      endUserType: 'REAL_ESTATE_AGENT',
      unitAddress: '12 Elm Street, Apt 4, Austin, TX 78701',
      termsVersion: expect.any(String),
      jscPayload: expect.any(String),
    });
    expect(JSON.parse(body!)).not.toHaveProperty('productId');
  });

  it('are shown in Spanish for a Spanish locale', async () => {
    await mounted({ init: { locale: 'es-MX' } });
    await host.frame.getByRole('heading', { name: 'Sus datos' }).waitFor();
    expect(await host.frame.locator('html').getAttribute('lang')).toBe('es');
  });

  it('of an agent need no SSN, and end with the verification', async () => {
    await mounted({ options: { userType: 'AGENT' } });
    const { 'Social Security number': _, ...agent } = PERSON;
    for (const [label, value] of Object.entries(agent)) await field(label).fill(value);
    await field('State').selectOption('CA');
    await host.frame.getByRole('checkbox').check();
    await send();
    await host.frame.getByRole('heading', { name: 'You are verified' }).waitFor();
    const { sessionId } = await host.hears('onVerificationSuccess');
    expect(await host.hears('onScreeningSuccess')).toEqual({ sessionId, overallStatus: 'COMPLETED' });
  });
});

describe('A refusal of the service', () => {
  it.each([
    ['Addresstest', 'INVALID_ADDRESS', 'Street address'],
    ['Minortest', 'MINOR_CONSUMER', 'Date of birth'],
    ['Ssntest', 'INVALID_SSN', 'Social Security number'],
    ['Dobtest', 'INVALID_DOB', 'Date of birth'],
    ['Missingtest', 'REPORT_MISSING_FIELD', 'Social Security number'],
  ])('of %s (%s) appears at %s', async (lastName, code, label) => {
    // The vendor refuses an address. The frame checks the other fields too, so their refusals stand for a service with stricter rules.
    await mounted({}, lastName === 'Addresstest' ? undefined : refusing(400, { code }));
    await fillIn({ 'Last name': lastName });
    await send();
    await problemOf(label).waitFor();
    expect(await host.hears('onError')).toMatchObject({ code });
    expect(await field('First name').inputValue()).toBe('Ana');
  });

  it.each([
    'ALREADY_REGISTERED',
    'PRODUCT_NOT_ENABLED',
    'ACCOUNT_NOT_PROVISIONED',
    'USER_BLOCKED',
    'TOO_MANY_ATTEMPTS',
  ])('with %s ends the form, and no typed text stays', async (code) => {
    await mounted({}, refusing(409, { code }));
    await fillIn();
    await send();
    await host.frame.getByRole('heading', { name: 'We cannot continue' }).waitFor();
    expect(await host.hears('onError')).toMatchObject({ code, recoverable: false });
    expect(await host.frame.locator('input').count()).toBe(0);
  });

  it('that ended a session reports the failed verification', async () => {
    await mounted();
    await fillIn({ 'Last name': 'Notfound' });
    await send();
    expect(await host.hears('onVerificationFailure')).toEqual({
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'BLOCKED',
      reasonCode: 'IDENTITY_NOT_FOUND',
    });
    expect(await host.hears('onError')).toMatchObject({ code: 'IDENTITY_NOT_FOUND' });
    // The details may have been mistyped.
    await host.press(host.frame.getByRole('button', { name: 'Start again' }));
    await fillIn();
    await send();
    expect(await host.hears('onVerificationSuccess')).toMatchObject({ status: 'VERIFIED' });
  });

  it('of a person who is blocked for a time shows the end of the block', async () => {
    await mounted({}, refusing(423, { code: 'USER_BLOCKED', blockedUntil: '2036-03-05T05:06:00.000Z' }));
    await fillIn();
    await send();
    await host.frame.getByText('Tuesday, March 4 at 11:06 PM CST').waitFor();
  });

  it('can also come after a failed device check, because sending repeats the check', async () => {
    await mounted({}, ({ page }) => page.route('**/browser/fingerprint.js', (route) => route.abort()));
    await host.hears('onError');
    await fillIn();
    await send();
    await host.hears('onError', 2);
    await host.frame.locator('.alert:focus').waitFor();
    await host.page.unroute('**/browser/fingerprint.js');
    await send();
    await host.hears('onVerificationSuccess');
  });

  it('that is temporary shows when to try again and keeps the typed text', async () => {
    await mounted({}, refusing(429, { code: 'NETWORK_RATE_LIMITED', recoverable: true }, { 'retry-after': '30' }));
    await fillIn();
    await send();
    await host.frame.getByText('You can try again in 30 seconds.').waitFor();
    expect(await host.hears('onError')).toMatchObject({ code: 'NETWORK_RATE_LIMITED', recoverable: true });
    expect(await field('City').inputValue()).toBe('Oakland');
  });
});

describe('An open session', () => {
  const known = (): Promise<string | null> => host.page.evaluate(() => (globalThis as any).mounted.screeningId);
  const submissions = () => host.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/submit'));
  /** The browser loads a frame again when it moves in the document. */
  const moveTheFrame = (): Promise<void> =>
    host.page.evaluate(() => {
      const place = (globalThis as any).document.querySelector('#place');
      place.append(place.firstElementChild);
    });

  it('continues when the frame loads again, and by its id when the page does', async () => {
    await mounted();
    await fillIn({ 'Last name': 'Otptest' });
    await send();
    expect(await host.hears('onStepStart', 2)).toEqual({ step: 'otp' });
    const screeningId = await known();
    await moveTheFrame();
    expect(await host.hears('onReady', 2)).toEqual({ view: 'screening' });
    expect(await host.hears('onStepStart', 3)).toEqual({ step: 'otp' });
    expect(await known()).toBe(screeningId);
    expect(submissions()).toHaveLength(1);
    await host.page.reload();
    await host.mount({ options: { screeningId } });
    expect(await host.hears('onStepStart')).toEqual({ step: 'otp' });
  });

  it('continues under its grant, also when the page never learned of it and the person sends the details again', async () => {
    const { secretKey } = embedding.credentials.accounts.demo;
    const minted = await embedding.service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': secretKey },
      body: {},
    });
    await mounted({ init: { sessionToken: minted.body.token } });
    const reached = new Promise<void>((resolve) => {
      void host.page.route(
        '**/screening/submit',
        async (route) => {
          await route.fetch();
          resolve();
        },
        { times: 1 },
      );
    });
    await fillIn({ 'Last name': 'Otptest' });
    await send();
    await reached;
    await moveTheFrame();
    expect(await host.hears('onReady', 2)).toEqual({ view: 'screening' });
    expect(await known()).toBeNull();
    await fillIn({ 'Last name': 'Otptest' });
    await send();
    expect(await host.hears('onStepStart', 3)).toEqual({ step: 'otp' });
    expect(submissions()).toHaveLength(2);
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });
});

describe('The connection', () => {
  it('is lost: the component waits, and the submission goes on when it is back', async () => {
    await mounted();
    await fillIn();
    await host.page.context().setOffline(true);
    await host.frame.locator('.offline').waitFor();
    await send();
    await host.frame.getByRole('button', { name: 'Confirming your identity' }).waitFor();
    expect(await host.frame.getByLabel('Last name').isEditable()).toBe(false);
    expect(host.requests.filter(({ url, method }) => method === 'POST' && url.endsWith('/submit'))).toEqual([]);
    await host.page.context().setOffline(false);
    expect(await host.hears('onStepComplete')).toEqual({ step: 'details' });
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });
});

describe('The device check', () => {
  it.each([
    ['FINGERPRINT_SCRIPT_LOAD_FAILED', null],
    ['FINGERPRINT_SDK_UNAVAILABLE', 'globalThis.nothing = 1'],
    [
      'FINGERPRINT_COLLECTION_FAILED',
      'globalThis.DeviceFingerprint = { collect: () => Promise.reject(new Error("no")) }',
    ],
  ])('that fails with %s is reported and can be tried again', async (code, script) => {
    await mounted({}, ({ page }) =>
      page.route('**/browser/fingerprint.js', (route) =>
        script === null ? route.abort() : route.fulfill({ contentType: 'text/javascript', body: script }),
      ),
    );
    expect(await host.hears('onError')).toEqual({ code, message: expect.any(String), recoverable: false });
    await host.page.unroute('**/browser/fingerprint.js');
    await host.press(host.frame.getByRole('button', { name: 'Try again' }));
    await host.frame.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
    await fillIn();
    await send();
    await host.hears('onVerificationSuccess');
  });
});
