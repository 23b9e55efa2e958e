// The callbacks that the page receives during the whole journey of a person, complete and in order. Other tests here
// cover the codes and warnings that no suite of a single step covers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame } from 'playwright-core';
import type { ComponentErrorCode } from '../../../web/contract/callbacks.js';
import { COMPONENT_ERRORS } from '../../../web/contract/codes.js';
import { browserOfPeople } from '../../support/browsers.js';
import { ANA, DetailsForm, type Typed } from '../../support/details-form.js';
import { Embedding, type HostPage, type MountWish, type Told } from '../../support/embedding.js';
import { soon } from '../../support/eventually.js';
import type { PlatformCaller } from '../../support/service.js';

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
const cors = { 'access-control-allow-origin': '*' };

let embedding: Embedding;
let demo: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start({}, { browser: browserOfPeople() });
  demo = await embedding.service.signIn();
});
afterAll(() => embedding?.stop());
afterEach(() => host.close());

const button = (name: string) => host.frame.getByRole('button', { name, exact: true });
const field = (label: string) => host.frame.getByLabel(label, { exact: false }).and(host.frame.locator('.control'));
const error = (code: ComponentErrorCode, recoverable?: boolean): object => ({
  code,
  message: COMPONENT_ERRORS[code].message,
  ...(recoverable === undefined ? {} : { recoverable }),
});

async function mounted(wish: MountWish): Promise<void> {
  host = await embedding.open();
  await host.mount(wish);
}

async function fillIn(person: Typed): Promise<void> {
  await new DetailsForm(host.frame).fill({ ...ANA, ...person });
}

async function typeCard(): Promise<void> {
  await button('Pay $35.00').waitFor();
  const card = host.frame.frameLocator('iframe[src*="payment-element"]');
  await card.getByLabel('Card number').fill('4242424242424242');
  await card.getByLabel('Expiration date').fill('12 / 39');
  await card.getByLabel('Security code').fill('123');
  await card.getByLabel('ZIP code').fill('78701');
}

/**
 * This browser stores no cookies and no data for the frames, because their site differs from the site of the page. The
 * browser stores such data for the pages of these sites.
 */
async function goesOnWithoutCookiesOfOthers(): Promise<void> {
  const keeps = (where: Frame): Promise<string[]> =>
    where.evaluate(() => {
      const { document } = globalThis as any;
      document.cookie = 'probe=1; SameSite=None; Secure';
      try {
        (globalThis as any).localStorage.setItem('probe', '1');
        return [document.cookie, 'kept'];
      } catch (refused) {
        return [document.cookie, (refused as Error).name];
      }
    });
  const { service } = embedding;
  for (const origin of [service.baseUrl, service.sandboxUrl]) {
    const frames = host.page.frames().filter((frame) => frame.url().startsWith(`${origin}/`));
    expect(frames).not.toEqual([]);
    for (const frame of frames) expect(await keeps(frame)).toEqual(['', 'SecurityError']);
    const own = await host.page.context().newPage();
    await own.goto(frames[0]!.url());
    expect(await keeps(own.mainFrame())).toEqual(['probe=1', 'kept']);
    await own.close();
  }
}

/**
 * The callbacks except those about the height. Equal callbacks in a row count once, because some are called at every
 * typed letter.
 */
async function toldInOrder(): Promise<Told[]> {
  const told = (await host.told()).filter(([name]) => name !== 'onResize');
  return told.filter((each, at) => JSON.stringify(each) !== JSON.stringify(told[at - 1]));
}

describe('the callbacks of a journey', () => {
  it('arrive in this order for a consumer, from the details to a report that is shared and revoked', async () => {
    await mounted({ handles: ['handlePrintRequested', 'handleDownloadRequested'] });
    await fillIn({ lastName: 'Otptest', ssn: '666700101' });
    await host.press(button('Continue'));
    await host.frame.getByLabel('Code', { exact: true }).fill('123456');
    await typeCard();
    await goesOnWithoutCookiesOfOthers();
    await host.press(button('Pay $35.00'));
    await host.press(button('Print'));
    await host.press(button('Download PDF'));
    await host.press(button('Share my report'));
    await host.press(button('Stop sharing'));
    await host.press(button('Stop sharing for good'));
    await host.hears('onReportRevoked');

    const { sessionId } = await host.hears('onVerificationSuccess');
    const shared = {
      sessionId,
      reportId: UUID,
      recipientAccountId: embedding.credentials.accounts.demo.accountId,
    };
    const { body: report } = await demo.get(`/reports/${sessionId}`);
    const { body: status } = await demo.status(sessionId);
    const told = await toldInOrder();
    // The report step ends when the question about sharing is ready, even if the person presses a button before that.
    const pressed = told.filter(([name]) => name.startsWith('handle'));
    expect(pressed).toEqual([
      ['handlePrintRequested', { sessionId }],
      ['handleDownloadRequested', { sessionId }],
    ]);
    expect(told.filter(([name]) => !name.startsWith('handle'))).toEqual([
      ['onReady', { view: 'screening' }],
      ['onStepStart', { step: 'details' }],
      ['onChange', { step: 'details', complete: false }],
      ['onChange', { step: 'details', complete: true }],
      ['onStepComplete', { step: 'details' }],
      ['onStepStart', { step: 'otp' }],
      ['onChange', { step: 'otp', complete: true }],
      ['onStepComplete', { step: 'otp' }],
      ['onVerificationSuccess', { sessionId, status: 'VERIFIED' }],
      ['onStepStart', { step: 'payment' }],
      ['onChange', { step: 'payment', complete: false }],
      ['onChange', { step: 'payment', complete: true }],
      ['onPaymentSuccess', { sessionId, transactionId: status.transactionId, amount: 3_500, currency: 'usd' }],
      ['onStepComplete', { step: 'payment' }],
      ['onStepStart', { step: 'report' }],
      ['onScreeningSuccess', { sessionId, overallStatus: 'COMPLETED', score: report.score.value }],
      ['onStepComplete', { step: 'report' }],
      ['onStepStart', { step: 'share' }],
      ['onReportShared', shared],
      ['onStepComplete', { step: 'share' }],
      ['onReportRevoked', shared],
    ]);
    const heights = (await host.told()).filter(([name]) => name === 'onResize').map(([, payload]) => payload);
    expect(heights.length).toBeGreaterThan(3);
    for (const payload of heights) expect(payload).toEqual({ height: expect.any(Number) });
  });

  it('end with the verification for an agent', async () => {
    await mounted({ options: { userType: 'AGENT' } });
    await fillIn({ lastName: 'Agent' });
    await host.press(button('Continue'));
    const { sessionId } = await host.hears('onScreeningSuccess');
    expect(await toldInOrder()).toEqual([
      ['onReady', { view: 'screening' }],
      ['onStepStart', { step: 'details' }],
      ['onChange', { step: 'details', complete: false }],
      ['onChange', { step: 'details', complete: true }],
      ['onStepComplete', { step: 'details' }],
      ['onVerificationSuccess', { sessionId, status: 'VERIFIED' }],
      ['onScreeningSuccess', { sessionId, overallStatus: 'COMPLETED' }],
    ]);
  });

  it('end with the report for an income view', async () => {
    await mounted({ view: 'income' });
    await host.press(host.frame.getByRole('button', { name: 'Agree and continue' }));
    await host.hears('onStepComplete');
    expect(await toldInOrder()).toEqual([
      ['onReady', { view: 'income' }],
      ['onStepStart', { step: 'income' }],
      ['onIncomeReportComplete', { incomeSessionId: UUID, route: 'PAYROLL' }],
      ['onStepComplete', { step: 'income' }],
    ]);
  });
});

describe('an error code of the API', () => {
  it('reaches the page with only the documented fields', async () => {
    const { body } = await demo.submit({ lastName: 'Otptest' });
    await mounted({ options: { screeningId: body.id } });
    await host.hears('onReady');
    const codes = [
      ['VALIDATION_ERROR', 400],
      ['VALIDATION_INVALID_FIELD_FORMAT', 400],
      ['INVALID_OTP', 400],
      ['INVALID_KBA', 400],
      ['USER_BLOCKED', 423],
      ['TOO_MANY_ATTEMPTS', 429],
      ['SESSION_EXPIRED', 410],
      ['REPORT_EXPIRED', 410],
      ['IDENTITY_NOT_FOUND', 404],
      ['MINOR_CONSUMER', 422],
      ['A_CODE_OF_TOMORROW', 400],
    ] as const;
    const refused: object[] = [];
    await host.page.route('**/otp', (route) => {
      const [code, status] = codes[refused.length]!;
      const error = { code, message: `No: ${code}.`, recoverable: status === 400 };
      refused.push(error);
      const beside = { field: 'code', details: [{ field: 'code', message: 'x' }], more: 'x' };
      return route.fulfill({ status, headers: cors, json: { error: { ...error, ...beside } } });
    });
    await host.frame.getByLabel('Code', { exact: true }).fill('123456');
    for (const [times] of codes.entries()) {
      // The component sends the code by itself the first time.
      if (times > 0) await host.frame.locator('button:not([aria-disabled])').first().click();
      expect(await host.hears('onError', times + 1)).toEqual(refused[times]);
      await host.frame.getByRole('alert').waitFor();
    }
  });
});

describe('an error code of the component', () => {
  it('AUTH_TOKEN_INVALID: the API refuses the token and the renewed token; the typed text is kept', async () => {
    await mounted({ options: { userType: 'AGENT' } });
    await fillIn({ lastName: 'Agent' });
    const damaged = (headers: Record<string, string>) => ({ ...headers, authorization: 'Bearer none.of.ours' });
    await host.page.route('**/screening/submit', (route) =>
      route.continue({ headers: damaged(route.request().headers()) }),
    );
    await host.press(button('Continue'));
    expect(await host.hears('onError')).toEqual(error('AUTH_TOKEN_INVALID', false));
    await host.frame.getByText('Your visit to this page has expired. Please reload the page.').waitFor();
    const sent = host.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/submit'));
    const exchanged = host.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/exchange'));
    expect([sent.length, exchanged.length]).toEqual([2, 2]);
    expect(await field('City').inputValue()).toBe('Oakland');
  });

  it('SCREENING_KBA_QUESTIONS_MISSING: a session has no questions at the first request, and has them at the second', async () => {
    const { body } = await demo.submit({ lastName: 'Kbatest' });
    host = await embedding.open();
    await host.page.route('**/status', async (route) => {
      const reply = await route.fetch({ headers: { ...route.request().headers(), origin: embedding.service.baseUrl } });
      const { stepUp, ...session } = (await reply.json()) as { stepUp: object };
      await route.fulfill({ response: reply, json: { ...session, stepUp: { ...stepUp, kbaQuestions: [] } } });
    });
    await host.mount({ options: { screeningId: body.id } });
    expect(await host.hears('onError')).toEqual(error('SCREENING_KBA_QUESTIONS_MISSING', true));
    await host.page.unroute('**/status');
    await host.press(button('Try again'));
    await host.frame.getByRole('radiogroup').first().waitFor();
  });

  it('SYSTEM_INTERNAL_ERROR: a step fails unexpectedly, and the person can continue', async () => {
    const { body } = await demo.submit();
    host = await embedding.open();
    await host.page.route('**/payments/*/confirm', (route) =>
      route.fulfill({
        status: 500,
        headers: cors,
        json: { error: { code: 'SYSTEM_INTERNAL_ERROR', message: 'x', recoverable: false } },
      }),
    );
    await host.mount({ options: { screeningId: body.id } });
    await typeCard();
    await host.press(button('Pay $35.00'));
    expect(await host.hears('onError')).toEqual(error('SYSTEM_INTERNAL_ERROR', false));
    await host.page.unrouteAll();
    await host.press(button('Try again'));
    expect(await host.hears('onPaymentSuccess')).toMatchObject({ sessionId: body.id });
  });

  it('PAYMENT_REQUIRED: the account has no credit for the report', async () => {
    const { body } = await (await embedding.service.signIn('broke')).submit();
    await mounted({ account: 'broke', view: 'report', options: { screeningId: body.id } });
    expect(await host.hears('onError')).toEqual({
      code: 'PAYMENT_REQUIRED',
      message: expect.stringMatching(/credit/),
      recoverable: false,
    });
  });
});

describe('a publishable key', () => {
  /** A publishable key of the demo account. */
  async function issued(...settings: string[]): Promise<{ readonly keyId: string; readonly key: string }> {
    const { accountId } = embedding.credentials.accounts.demo;
    const { stdout, exitCode } = await embedding.service.ops(
      ...['keys', 'issue', accountId, '--kind', 'publishable', '--environment', 'test'],
      ...settings,
    );
    expect([exitCode, stdout]).toEqual([0, stdout]);
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  }

  it('that the service refuses is reported to the page with the reason', async () => {
    const here = ['--origins', embedding.hostOrigin];
    const [deactivated, limited, elsewhere] = [
      await issued(...here),
      await issued(...here, '--per-minute', '1'),
      await issued('--origins', 'https://elsewhere.example.test'),
    ];
    await embedding.service.ops('keys', 'deactivate', deactivated.keyId);
    const exchange = { headers: { 'x-publishable-key': limited.key, origin: embedding.hostOrigin } };
    expect((await embedding.service.request('POST', '/auth/token/exchange', exchange)).status).toBe(200);
    for (const [code, key] of [
      ['INVALID_KEY', 'pk_test_0123456789abcdefghijkl'],
      ['KEY_INACTIVE', deactivated.key],
      ['ORIGIN_NOT_ALLOWED', elsewhere.key],
      ['RATE_LIMITED', limited.key],
    ] as const) {
      await host?.close();
      await mounted({ key });
      expect([key, await host.hears('onError')]).toEqual([key, error(code)]);
      expect(await host.page.locator('iframe').count()).toBe(0);
    }
  });
});

describe('a warning to the page', () => {
  /** A session grant that the integrator's server minted. */
  async function minted(terms: object): Promise<string> {
    const { secretKey } = embedding.credentials.accounts.demo;
    const { body } = await embedding.service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': secretKey },
      body: terms,
    });
    return body.token;
  }

  it('IGNORED_END_USER_TYPE: the grant and the page name different types, and the type of the grant is used', async () => {
    const sessionToken = await minted({ end_user_type: 'REAL_ESTATE_AGENT' });
    await mounted({ init: { sessionToken }, options: { endUserType: 'PROPERTY_MANAGEMENT' } });
    expect(await host.hears('onWarning')).toEqual({
      code: 'IGNORED_END_USER_TYPE',
      message: 'The session grant names another end-user type.',
    });
    await fillIn({ lastName: 'Example', ssn: '666700102' });
    await host.press(button('Continue'));
    await host.hears('onVerificationSuccess');
    const sent = host.requests.find(({ method, url }) => method === 'POST' && url.endsWith('/submit'));
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ endUserType: 'REAL_ESTATE_AGENT' });
  });

  it('INVALID_END_USER_TYPE: the grant names an unknown type', async () => {
    await mounted({ init: { sessionToken: await minted({ end_user_type: 'a landlord' }) } });
    expect(await host.hears('onWarning')).toEqual({
      code: 'INVALID_END_USER_TYPE',
      message: 'The session grant names no known end-user type; it is left out.',
    });
    expect(await host.hears('onReady')).toEqual({ view: 'screening' });
  });

  it('DELEGATION_UNSUPPORTED: the grant on behalf of a child account was already used', async () => {
    const sessionToken = await minted({ on_behalf_of: embedding.credentials.accounts.child.accountId });
    await mounted({ init: { sessionToken } });
    await host.hears('onReady');
    expect((await host.told()).filter(([name]) => name === 'onWarning')).toEqual([]);
    await host.close();
    await mounted({ init: { sessionToken } });
    expect(await host.hears('onWarning')).toEqual({
      code: 'DELEGATION_UNSUPPORTED',
      message:
        'The session token could not be used (ALREADY_CONSUMED), so the view does not act for the child account.',
    });
    await host.hears('onReady');
  });

  it('INVALID_PRODUCT_ID, INVALID_APPLICATION_FEE and INVALID_PREFILL_FIELDS name the options that are left out', async () => {
    await mounted({
      options: { productId: 424_242, applicationFee: 3_501, prefill: { currentZip: 'x', unknown: 'x' } },
    });
    await host.hears('onReady');
    await soon(async () =>
      expect((await host.told()).filter(([name]) => name === 'onWarning')).toEqual([
        [
          'onWarning',
          {
            code: 'INVALID_PREFILL_FIELDS',
            message: 'Some prefill fields are unknown or no strings, and are left out.',
            fields: ['unknown'],
          },
        ],
        [
          'onWarning',
          {
            code: 'INVALID_APPLICATION_FEE',
            message: 'The application fee is more than the account may keep; it is left out.',
          },
        ],
        ['onWarning', { code: 'INVALID_PRODUCT_ID', message: 'The account has no such product; its own is used.' }],
        [
          'onWarning',
          { code: 'INVALID_PREFILL_FIELDS', message: 'These fields are not filled in.', fields: ['currentZip'] },
        ],
      ]),
    );
  });
});
