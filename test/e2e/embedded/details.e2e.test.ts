// The step in which a person enters their details. The tests check the screen and the callbacks for each answer of the API and the device
// check.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { FieldName } from '../../../web/frame/steps/details/rules.js';
import { ONE_PROCESS } from '../../support/browsers.js';
import { ANA, DetailsForm, type Typed } from '../../support/details-form.js';
import { Embedding, type HostPage, type MountWish } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';

let embedding: Embedding;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start({}, { isolation: ONE_PROCESS });
});
afterAll(() => embedding.stop());
afterEach(() => host.close());

let people = 0;
/** An SSN that only the person of this test has. */
const newSsn = (): string => `666${String(100_000 + ++people)}`;

async function mounted(wish: MountWish = {}, before: (host: HostPage) => Promise<unknown> = async () => undefined) {
  host = await embedding.open();
  await before(host);
  await host.mount(wish);
  await host.hears('onReady');
}

const form = () => new DetailsForm(host.frame);
const field = (name: FieldName) => form().field(name);
const problemOf = (name: FieldName) => form().problemOf(name);
const heading = (name: string) => host.frame.getByRole('heading', { name });
const send = () => host.press(host.frame.getByRole('button', { name: 'Continue' }));
const fillIn = (person: Typed = {}): Promise<void> => form().fill({ ...ANA, ssn: newSsn(), ...person });
const hasFocus = (name: FieldName): Promise<void> => field(name).and(host.frame.locator(':focus')).waitFor();

/** Answers a submission instead of the service. */
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

describe('The details step', () => {
  it('can be filled in and sent by keyboard, and leads to the next step', async () => {
    await mounted();
    const { keyboard } = host.page;
    await field('firstName').focus();
    for (const text of ['Ana\t', 'Otptest\t\t', '04121990\n']) await type(text);
    await heading('Your Social Security number and phone').and(host.frame.locator(':focus')).waitFor();
    for (const text of ['\t', newSsn(), '\t\t', '4155550134\n']) await type(text);
    await heading('Where you live now, and your consent').and(host.frame.locator(':focus')).waitFor();
    for (const text of ['\t', '1 Main St\t', 'Oakland\t', 'California\t', '94105\t\t', ' ', '\t\n']) await type(text);
    expect(await host.hears('onStepComplete')).toEqual({ step: 'details' });
    expect(await host.hears('onStepStart', 2)).toEqual({ step: 'otp' });
    const steps = (await host.told()).filter(([name]) => name.startsWith('onStep')).map(([, { step }]) => step);
    expect(steps).toEqual(['details', 'details', 'otp']);
    const changes = (await host.told()).filter(([name]) => name === 'onChange');
    expect(changes[0]![1]).toEqual({ step: 'details', complete: false });
    expect(changes.at(-1)![1]).toEqual({ step: 'details', complete: true });
    expect(JSON.stringify(await host.told())).not.toMatch(/Otptest|Oakland|4155550134/);
    expect(host.console.filter((line) => line.startsWith('uncaught') || /Security Policy/.test(line))).toEqual([]);

    async function type(text: string): Promise<void> {
      for (const key of text) await keyboard.press({ '\t': 'Tab', '\n': 'Enter', ' ': 'Space' }[key] ?? key);
    }
  });

  it('keeps the typed text when the person goes back', async () => {
    await mounted();
    await fillIn({ middleName: 'Bea', email: 'ana@example.com' });
    await host.press(host.frame.getByRole('button', { name: 'Back' }));
    await heading('Your Social Security number and phone').and(host.frame.locator(':focus')).waitFor();
    expect(await field('ssn').inputValue()).toMatch(/^666-\d\d-\d{4}$/);
    expect(await field('email').inputValue()).toBe('ana@example.com');
    await host.press(host.frame.getByRole('button', { name: 'Back' }));
    await heading('Your name and date of birth').waitFor();
    expect(await field('middleName').inputValue()).toBe('Bea');
    expect(await field('dateOfBirth').inputValue()).toBe('04/12/1990');
    expect(await host.frame.getByRole('button', { name: 'Back' }).count()).toBe(0);
    await form().goOn();
    expect([await field('currentState').inputValue(), await field('terms').isChecked()]).toEqual(['CA', true]);
  });

  it('folds the fields that few people need, and gives them the focus when they are added', async () => {
    await mounted();
    expect(await field('middleName').count()).toBe(0);
    await host.press(host.frame.getByRole('button', { name: 'Add middle name' }));
    await hasFocus('middleName');
    expect(await host.frame.getByRole('button', { name: 'Add middle name' }).count()).toBe(0);
  });

  it('fills in a test person in test mode, and keeps text that was typed and is valid', async () => {
    await mounted({ options: { prefill: { lastName: 'Otptest' } } });
    await field('firstName').focus();
    await host.press(host.frame.getByRole('button', { name: 'Use test data' }));
    expect(await host.hears('onChange')).toEqual({ step: 'details', complete: true });
    await host.frame.locator('[aria-live]').getByText('filled in with test data').waitFor({ state: 'attached' });
    expect([await field('firstName').inputValue(), await field('lastName').inputValue()]).toEqual(['Robin', 'Otptest']);
    expect(await problemOf('firstName').count()).toBe(0);
    await form().goOn();
    await send();
    expect(await host.hears('onStepStart', 2)).toEqual({ step: 'otp' });
    await host.frame.getByText('(•••) •••-0132').waitFor();
  });

  it('offers no test person under a live key', async () => {
    await mounted({}, ({ page }) =>
      page.route('**/screening/options?*', async (route) => {
        const reply = await route.fetch({
          headers: { ...route.request().headers(), origin: embedding.service.baseUrl },
        });
        await route.fulfill({ response: reply, json: { ...((await reply.json()) as object), environment: 'live' } });
      }),
    );
    await field('firstName').waitFor();
    expect(await host.frame.getByRole('button', { name: 'Use test data' }).count()).toBe(0);
  });

  it('hides only the SSN, groups the digits during typing, and shows the SSN on demand', async () => {
    await mounted();
    await field('dateOfBirth').pressSequentially('4/7/1990');
    expect(await field('dateOfBirth').inputValue()).toBe('04/07/1990');
    const hidden = (name: FieldName) =>
      field(name).evaluate((input) => (globalThis as any).getComputedStyle(input).webkitTextSecurity);
    expect(await hidden('dateOfBirth')).toBe('none');
    await form().type({ firstName: 'Ana', lastName: 'Smith' });
    await send();
    const ssn = field('ssn');
    await ssn.pressSequentially('666123456');
    expect(await ssn.inputValue()).toBe('666-12-3456');
    expect(await hidden('ssn')).toBe('disc');
    const show = host.frame.getByRole('button', { name: 'Show Social Security number' });
    await show.press('Enter');
    // The name of the button says what a press does.
    await host.frame.getByRole('button', { name: 'Hide Social Security number' }).getByText('Hide').waitFor();
    expect(await hidden('ssn')).toBe('none');
  });

  it('shows a phone number in groups, and a foreign number as it was typed', async () => {
    await mounted({ options: { prefill: { phoneNumber: '5125550161' } } });
    await form().type({ firstName: 'Ana', lastName: 'Smith', dateOfBirth: '04121990' });
    await send();
    const phone = field('phoneNumber');
    expect(await phone.inputValue()).toBe('(512) 555-0161');
    for (const [typed, shown] of [
      ['+1 415.555.0134', '(415) 555-0134'],
      ['+44 20 7183 8750', '+44 20 7183 8750'],
    ] as const) {
      await phone.fill(typed);
      await phone.press('Tab');
      await until('the field has been left', async () => (await phone.inputValue()) === shown);
    }
    await problemOf('phoneNumber').waitFor();
  });

  it('shows an error when the person leaves a wrong field; the continue button lists all errors and focuses the first field', async () => {
    await mounted();
    await field('dateOfBirth').fill('12');
    await field('dateOfBirth').press('Tab');
    await problemOf('dateOfBirth').waitFor();
    expect(await field('dateOfBirth').getAttribute('aria-invalid')).toBe('true');
    await send();
    await host.frame.getByRole('alert').getByText('Please check these fields').waitFor();
    await hasFocus('firstName');
    await host.frame.getByRole('alert').getByRole('button', { name: 'Date of birth' }).click();
    await hasFocus('dateOfBirth');
    await field('firstName').fill('Ana');
    await problemOf('firstName').waitFor({ state: 'detached' });
    await heading('Your name and date of birth').waitFor();
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });

  it('shows the error of a wrong focused field at the first press of the button', async () => {
    await mounted();
    await fillIn({ currentZip: '12' });
    await field('currentZip').focus();
    await send();
    await host.frame.getByRole('alert').getByText('Please check these fields').waitFor();
  });

  it('fills in the fields that the page supplies, and tells the page the names of the wrong fields', async () => {
    await mounted({
      options: { prefill: { firstName: 'Ana', currentState: 'TX', currentZip: 'nowhere', email: 'no mail' } },
    });
    expect(await field('firstName').inputValue()).toBe('Ana');
    await form().type({ lastName: 'Smith', dateOfBirth: '04121990' });
    await send();
    await form().type({ ssn: newSsn(), phoneNumber: '4155550134' });
    await send();
    expect(await field('currentState').inputValue()).toBe('TX');
    expect(await field('currentZip').inputValue()).toBe('');
    expect(await host.hears('onWarning')).toMatchObject({
      code: 'INVALID_PREFILL_FIELDS',
      fields: expect.arrayContaining(['currentZip', 'email']),
    });
  });

  it('sends the details with the valid options of the page and the version of the terms', async () => {
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
      termsLanguage: 'en',
      jscPayload: expect.any(String),
    });
    expect(JSON.parse(body!)).not.toHaveProperty('productId');
  });

  it('is shown in Spanish for a Spanish locale', async () => {
    await mounted({ init: { locale: 'es-MX' } });
    await host.frame.getByRole('heading', { name: 'Su nombre y fecha de nacimiento' }).waitFor();
    expect(await host.frame.locator('html').getAttribute('lang')).toBe('es');
  });

  it('asks an agent for no SSN, and ends with the verification', async () => {
    await mounted({ options: { userType: 'AGENT' } });
    await form().fill(ANA);
    await send();
    await host.frame.getByRole('heading', { name: 'You are verified' }).waitFor();
    const { sessionId } = await host.hears('onVerificationSuccess');
    expect(await host.hears('onScreeningSuccess')).toEqual({ sessionId, overallStatus: 'COMPLETED' });
  });
});

describe('A refusal of the service', () => {
  it.each([
    ['Addresstest', 'INVALID_ADDRESS', 'currentAddress'],
    ['Minortest', 'MINOR_CONSUMER', 'dateOfBirth'],
    ['Ssntest', 'INVALID_SSN', 'ssn'],
    ['Dobtest', 'INVALID_DOB', 'dateOfBirth'],
    ['Missingtest', 'REPORT_MISSING_FIELD', 'ssn'],
  ] as const)('of the field %s (%s) opens the screen of %s', async (lastName, code, name) => {
    // The vendor refuses an address. The frame itself checks the other fields. Refusals of these fields therefore stand
    // for a service with stricter rules.
    await mounted({}, lastName === 'Addresstest' ? undefined : refusing(400, { code }));
    await fillIn({ lastName });
    await send();
    await problemOf(name).waitFor();
    await hasFocus(name);
    expect(await host.hears('onError')).toMatchObject({ code });
    await form().backTo('firstName');
    expect(await field('firstName').inputValue()).toBe('Ana');
  });

  it('of fields on two screens opens the first screen and lists both fields', async () => {
    const details = ['currentZip', 'ssn'].map((field) => ({ field, message: 'No.' }));
    await mounted({}, refusing(400, { code: 'VALIDATION_INVALID_FIELD_FORMAT', field: 'currentZip', details }));
    await fillIn();
    await send();
    await hasFocus('ssn');
    await host.frame.getByRole('alert').getByRole('button', { name: 'ZIP code' }).press('Enter');
    await hasFocus('currentZip');
    await problemOf('currentZip').waitFor();
  });

  it.each([
    'ALREADY_REGISTERED',
    'PRODUCT_NOT_ENABLED',
    'ACCOUNT_NOT_PROVISIONED',
    'USER_BLOCKED',
    'TOO_MANY_ATTEMPTS',
  ])('with %s ends the form and removes all typed text', async (code) => {
    await mounted({}, refusing(409, { code }));
    await fillIn();
    await send();
    await host.frame.getByRole('heading', { name: 'We cannot continue' }).waitFor();
    expect(await host.hears('onError')).toMatchObject({ code, recoverable: false });
    expect(await host.frame.locator('input').count()).toBe(0);
  });

  it('that ended a session reports to the page that the verification failed', async () => {
    await mounted();
    await fillIn({ lastName: 'Notfound' });
    await send();
    expect(await host.hears('onVerificationFailure')).toEqual({
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'BLOCKED',
      reasonCode: 'IDENTITY_NOT_FOUND',
    });
    expect(await host.hears('onError')).toMatchObject({ code: 'IDENTITY_NOT_FOUND' });
    // The person may have mistyped the details.
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

  it('is also possible after a failed device check, because sending the details repeats the check', async () => {
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

  it('that is temporary shows the time of the next possible try, and keeps the typed text', async () => {
    await mounted({}, refusing(429, { code: 'NETWORK_RATE_LIMITED', recoverable: true }, { 'retry-after': '30' }));
    await fillIn();
    await send();
    await host.frame.getByText('You can try again in 30 seconds.').waitFor();
    expect(await host.hears('onError')).toMatchObject({ code: 'NETWORK_RATE_LIMITED', recoverable: true });
    expect(await field('currentCity').inputValue()).toBe('Oakland');
  });
});

describe('An open screening session', () => {
  const known = (): Promise<string | null> => host.page.evaluate(() => (globalThis as any).mounted.screeningId);
  const submissions = () => host.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/submit'));
  /** The browser loads a frame again when it moves in the document. */
  const moveTheFrame = (): Promise<void> =>
    host.page.evaluate(() => {
      const place = (globalThis as any).document.querySelector('#place');
      place.append(place.firstElementChild);
    });

  it("continues when the frame loads again, and continues by the session's id when the page loads again", async () => {
    await mounted();
    await fillIn({ lastName: 'Otptest' });
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

  it("continues under its grant when the page never received the session's id and the person sends the details again", async () => {
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
    await fillIn({ lastName: 'Otptest' });
    await send();
    await reached;
    await moveTheFrame();
    expect(await host.hears('onReady', 2)).toEqual({ view: 'screening' });
    expect(await known()).toBeNull();
    await fillIn({ lastName: 'Otptest' });
    await send();
    expect(await host.hears('onStepStart', 3)).toEqual({ step: 'otp' });
    expect(submissions()).toHaveLength(2);
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });
});

describe('The connection to the service', () => {
  it('is lost: the component waits, and sends the submission when the connection is back', async () => {
    await mounted();
    await fillIn();
    await host.page.context().setOffline(true);
    await host.frame.locator('.offline').waitFor();
    await send();
    await host.frame.getByRole('button', { name: 'Confirming your identity' }).waitFor();
    expect(await field('currentCity').isEditable()).toBe(false);
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
