// Text that people type and paste, on every surface of the whole service (docs/contract/general.md#text).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration, DirectCaller } from '../../support/direct.js';
import { aPerson, type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const HALF = 'x\ud83d';
const PAGE = { successUrl: 'http://localhost:5173/paid', cancelUrl: 'http://localhost:5173/canceled' };

let service: Service;
let accounts: Credentials['accounts'];
let page: PlatformCaller;
let direct: DirectCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  page = await service.signIn('nopay');
  direct = await DirectCaller.of(service, 'demo');
});
afterAll(() => service.stop());

const named = ({ status, body }: Reply): unknown[] => [status, body.error.code, body.error.field];
const numbered = ({ status, body }: Reply): unknown[] => [
  status,
  body.errors[0].errorCode,
  body.errors[0].errorOnField,
];

describe('half of a surrogate pair gets 400 with the field', () => {
  it('on the platform, where the idempotency key stays unused', async () => {
    const key = { 'idempotency-key': 'half' };
    expect(named(await page.post('/screening/submit', aPerson({ currentCity: HALF }), key))).toEqual([
      400,
      'VALIDATION_ERROR',
      'currentCity',
    ]);
    expect((await page.post('/screening/submit', aPerson(), key)).status).toBe(200);
    const unitAddress = { address: HALF, city: 'x', state: 'CA', zip: '94105' };
    expect(named(await page.submit({ unitAddress }))).toEqual([400, 'VALIDATION_ERROR', 'unitAddress']);
    // The names of fields are the caller's own.
    for (const field of ['code', 'toString', 'constructor'])
      expect(named(await page.post('/screening/x/otp', { [field]: HALF }))).toEqual([400, 'VALIDATION_ERROR', field]);
  });

  it('on the secret-key surface, even in names of nested fields', async () => {
    const headers = { 'x-secret-key': accounts.demo.secretKey };
    for (const body of [{ metadata: { a: HALF } }, { metadata: { [HALF]: 'a' } }])
      expect(named(await service.request('POST', '/v1/sessions', { headers, body }))).toEqual([
        400,
        'VALIDATION_ERROR',
        'metadata',
      ]);
  });

  it('on the dashboard', async () => {
    const headers = { authorization: `Bearer ${accounts.demo.dashboardTokens.owner}` };
    const body = { url: 'https://hooks.example.test/', notify_email: `${HALF}@example.test` };
    expect(named(await service.request('POST', '/tsp/webhooks', { headers, body }))).toEqual([
      400,
      'VALIDATION_ERROR',
      'notify_email',
    ]);
  });

  it('on the direct API, and a clean checkout of the same renter succeeds', async () => {
    expect(numbered(await direct.register('renters', 'half', { lastName: HALF }))).toEqual([400, 138, 'lastName']);
    await direct.registered('renters', 'half');
    const checkout = (more: object): Promise<Reply> =>
      direct.send('POST', '/pay/payment/checkout-session', { renterId: 'half', ...PAGE, ...more });
    for (const field of ['customerUserIdTsp', 'consumerIdTsp', 'customerEmail'])
      expect(numbered(await checkout({ [field]: HALF }))).toEqual([400, 400, field]);
    expect(numbered(await checkout({ consumerEmail: 'o\u2019neil@example.com' }))).toEqual([400, 400, 'consumerEmail']);
    expect(numbered(await checkout({ customerEmail: 'a\u200b@example.com' }))).toEqual([400, 400, 'customerEmail']);
    expect((await checkout({ customerEmail: '', propertyAddress: '', consumerIdTsp: '' })).status).toBe(200);
  });

  it.each(['%ED%A0%80', '%C0%80', '\u00ed\u00a0\u0080'])(
    'in a path or query, where other odd text also causes no fault of the service: %s',
    async (odd) => {
      expect((await page.get(`/screening/${odd}/status?language=${odd}`)).status).toBeLessThan(500);
      expect((await direct.get(`/renters/${odd}/report?format=${odd}`)).status).toBeLessThan(500);
    },
  );
});

describe('the details of a person, as the keyboard of a phone spells them', () => {
  const SPELLED = {
    firstName: ' Ada\u200e',
    middleName: '',
    email: '',
    phoneNumber: '\u202a(415) 555\u20110134\u202c',
    currentState: 'ca',
    currentZip: ' 94105 1234',
  };

  it('are accepted by the platform, and the simplified name chooses the persona', async () => {
    const { status, body } = await page.submit({ ...SPELLED, lastName: '\u200fOtptest ' });
    expect([status, body.status, body.stepUp.type]).toEqual([200, 'STEP_UP_REQUIRED', 'OTP']);
    expect((await page.post(`/screening/${body.id}/otp`, { code: ' 123456\u00a0' })).body.status).toBe('VERIFIED');
  });

  it('are accepted by the direct API, which removes only formatting; the vendor refuses a foreign phone number', async () => {
    const person = aRegistration({ ...SPELLED, lastName: '\u2019t Hooft', ssn: ' 666123456 ' });
    expect((await direct.post('/renters/spelled', person)).status).toBe(200);
    const foreign = await direct.register('renters', 'foreign', { phoneNumber: '+65 6123 4567' });
    expect(numbered(foreign)).toEqual([400, 2013, 'phoneNumber']);
  });

  it.each(['+65 6123 4567', '555-0132 x415', '+1 415 555 0132'])(
    'are refused with 400 and the field when the phone number is not valid: %s',
    async (phoneNumber) => {
      expect(named(await page.submit({ phoneNumber }))).toEqual([
        400,
        'VALIDATION_INVALID_FIELD_FORMAT',
        'phoneNumber',
      ]);
    },
  );
});
