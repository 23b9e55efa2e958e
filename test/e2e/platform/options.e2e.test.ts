// GET /screening/options on the whole service (docs/contract/platform.md#options).
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/eventually.js';
import { Service, type Credentials, type PlatformCaller, type Reply } from '../../support/service.js';

const TERMS = { version: '2026-01', text: { en: ['I agree.', 'To all of it.'], es: ['Estoy de acuerdo.'] } };

describe('GET /screening/options', () => {
  let service: Service;
  let accounts: Credentials['accounts'];
  let demo: PlatformCaller;

  beforeAll(async () => {
    service = await Service.shared('plain');
    ({ accounts } = await service.credentials());
    demo = await service.signIn('demo');
  });
  afterAll(() => service.stop());

  const options = (caller: PlatformCaller, query = ''): Promise<Reply> => caller.get(`/screening/options${query}`);

  async function ops(...args: string[]): Promise<Reply['body']> {
    const { exitCode, stdout } = await service.ops(...args);
    if (exitCode !== 0) throw new Error(`ops ${args.join(' ')} ended with ${exitCode}: ${stdout}`);
    return JSON.parse(stdout);
  }

  /** A page of a new account with these settings. */
  async function pageOf(...settings: string[]): Promise<{ readonly accountId: string; readonly page: PlatformCaller }> {
    const { accountId } = await ops('accounts', 'create', '--name', 'Other', '--prepaid', 'yes', ...settings);
    const key = ['keys', 'issue', accountId, '--kind', 'publishable', '--environment', 'test'];
    const { key: publishableKey } = await ops(...key, '--origins', accounts.demo.allowedOrigins[0] as string);
    return { accountId, page: await service.signIn('demo', publishableKey) };
  }

  it('200: the options that a page has under its account, and the price for its consumers', async () => {
    const { status, headers, body } = await options(demo);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      environment: 'test',
      userTypes: ['CONSUMER', 'AGENT', 'PMC'],
      productIds: [1, 2],
      price: { amount: 3_500, currency: 'usd', exponent: 2 },
      applicationFee: { fixed: null, max: 3_500 },
      grant: null,
      support: 'support@example.test',
      brand: {
        displayName: 'Elm Street Homes',
        logo: expect.stringMatching(/^data:image\/png;base64,[\w+/]+=*$/),
        privacyUrl: 'https://example.test/privacy',
      },
      terms: { version: 'standard-1', language: 'en', paragraphs: expect.any(Array) },
      otpResendInterval: Number(service.env['OTP_RESEND_INTERVAL']),
    });
    expect(body.terms.paragraphs.join(' ')).toContain('Fair Credit Reporting Act');
  });

  it('200: the price is missing when the account pays', async () => {
    const { status, body } = await options(await service.signIn('nopay'));
    expect([status, body.price, body.applicationFee]).toEqual([200, null, { fixed: null, max: null }]);
  });

  it('200: shows the price and the highest fee, and payments are refused beyond these bounds', async () => {
    const { page } = await pageOf('--payer', 'consumer', '--fee', '10', '--max-application-fee', '40');
    const { body } = await options(page);
    expect([body.price.amount, body.applicationFee]).toEqual([50, { fixed: null, max: 40 }]);
    const { body: session } = await page.submit();
    const pay = (amount: number, applicationFee: number): Promise<Reply> =>
      page.post('/payments/create-intent', { screeningId: session.id, amount, applicationFee });
    expect([(await pay(49, 0)).status, (await pay(50, 41)).status]).toEqual([400, 400]);
    expect((await pay(50, 40)).status).toBe(200);
  });

  it('200: the support contact that the operator has set, and null after its removal', async () => {
    const { accountId, page } = await pageOf('--support', '+1 202 555 0143');
    expect((await options(page)).body.support).toBe('+1 202 555 0143');
    for (const [contact, told] of [
      ['https://example.com/help', 'https://example.com/help'],
      ['none', null],
    ] as const) {
      expect(await ops('accounts', 'set', accountId, '--support', contact)).toMatchObject({ supportContact: told });
      await until('the page has it', async () => (await options(page)).body.support === told);
    }
    const wrong = await service.ops('accounts', 'set', accountId, '--support', 'ask at the desk');
    expect(wrong.exitCode).not.toBe(0);
  });

  it('200: the brand that the operator has set', async () => {
    const { accountId, page } = await pageOf(
      '--display-name',
      'Acme Homes',
      '--privacy',
      'https://example.com/privacy',
    );
    expect((await options(page)).body.brand).toEqual({
      displayName: 'Acme Homes',
      logo: null,
      privacyUrl: 'https://example.com/privacy',
    });
    const logo = join(tmpdir(), `logo-${accountId}.png`);
    await writeFile(logo, Buffer.from((await options(demo)).body.brand.logo.split(',')[1], 'base64'));
    const set = await ops('accounts', 'set', accountId, '--logo', logo, '--display-name', 'none');
    expect(set.brand).toMatchObject({ displayName: 'Other', logo: expect.stringMatching(/^PNG of \d+ bytes$/) });
    await until('the page has the logo', async () => (await options(page)).body.brand.logo !== null);
    const wrong = await service.ops('accounts', 'set', accountId, '--logo', fileURLToPath(import.meta.url));
    expect(wrong.exitCode).not.toBe(0);
    await rm(logo);
  });

  it("200: the values that the token's session grant sets", async () => {
    const page = await service.signInUnderGrant('demo', {
      user_type: 'CONSUMER',
      end_user_type: 'REAL_ESTATE_AGENT',
      application_fee: 700,
    });
    expect((await options(page)).body.grant).toEqual({
      userType: 'CONSUMER',
      endUserType: 'REAL_ESTATE_AGENT',
      otherEndUserType: false,
      applicationFee: 700,
    });
    expect((await options(await service.signInUnderGrant('demo', { end_user_type: 'applicant' }))).body.grant).toEqual({
      userType: null,
      endUserType: null,
      otherEndUserType: true,
      applicationFee: null,
    });
  });

  it('200: a fee in the grant raises the lowest price for a consumer when the account has none', async () => {
    const page = await service.signInUnderGrant('demo', { application_fee: 4_000 });
    expect((await options(page)).body).toMatchObject({ price: { amount: 4_000 }, applicationFee: { max: 4_000 } });
  });

  it.each([
    ['es', 'es'],
    ['en', 'en'],
    ['fr', 'en'],
    ['', 'en'],
    ['es&language=es', 'en'],
  ])('200: the installation\'s terms, for language "%s" in %s', async (asked, given) => {
    const { status, body } = await options(demo, `?language=${asked}`);
    expect([status, body.terms.version, body.terms.language]).toEqual([200, 'standard-1', given]);
    expect(body.terms.paragraphs.length).toBeGreaterThan(3);
  });

  it('200: the terms and products that the operator has set for the account; in English when the account has no Spanish ones', async () => {
    const [file, english] = [join(service.dataDir, 'terms.json'), join(service.dataDir, 'english.json')];
    await writeFile(file, JSON.stringify(TERMS));
    await writeFile(english, JSON.stringify({ version: '2', text: { en: ['Yes.'] } }));
    const { accountId, page } = await pageOf('--terms', file, '--product-ids', '7, 3');
    expect((await options(page, '?language=es')).body).toMatchObject({
      productIds: [3, 7],
      terms: { version: '2026-01', language: 'es', paragraphs: TERMS.text.es },
    });
    expect((await options(page)).body.terms.paragraphs).toEqual(TERMS.text.en);
    const set = await ops('accounts', 'set', accountId, '--terms', english, '--product-ids', 'none');
    expect(set).toMatchObject({ productIds: [], terms: { version: '2' } });
    await writeFile(english, JSON.stringify({ ...TERMS, text: { en: ['Yes.'] } }));
    const { exitCode, stdout } = await service.ops('accounts', 'set', accountId, '--terms', english);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('has another text already')]);
    const other = await service.signIn('unrelated');
    expect((await options(other)).body.terms.version).toBe('standard-1');
  });

  it.each([
    ['no JSON', '{'],
    ['another type', '[]'],
    ['no version', '{"text":{"en":["Yes."]}}'],
    ['no English', '{"version":"1","text":{"es":["Sí."]}}'],
    ['paragraphs that are not texts', '{"version":"1","text":{"en":[1]}}'],
    ['an empty text', '{"version":"1","text":{"en":[]}}'],
    ['a version that is not a plain token', '{"version":"a b","text":{"en":["Yes."]}}'],
  ])('terms with %s are refused', async (_, content) => {
    const file = join(service.dataDir, 'wrong.json');
    await writeFile(file, content);
    const { exitCode, stdout } = await service.ops('accounts', 'set', accounts.unrelated.accountId, '--terms', file);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/terms/)]);
  });

  it.each(['/screening/options', '/reports/nothing/sharing', '/voie/sessions/nothing/status'])(
    '200, 404 and 204: the origin of the embedded frame may read the answer and the preflight of %s',
    async (path) => {
      const origin = new URL((await service.credentials()).embeddedUrl).origin;
      const { status, headers } = await demo.get(path, { origin });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([
        path.includes('nothing') ? 404 : 200,
        origin,
      ]);
      const asked = {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      };
      const preflight = await service.request('OPTIONS', path, { headers: asked });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    },
  );

  it('401: without a token', async () => {
    const { status, headers, body } = await service.request('GET', '/screening/options', {
      headers: { origin: 'http://localhost:5173' },
    });
    expect([status, body.error.code]).toEqual([401, 'AUTH_UNAUTHORIZED']);
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
  });
});
