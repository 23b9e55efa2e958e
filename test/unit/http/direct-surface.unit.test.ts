// The errors that callers of the direct API receive (docs/contract/direct.md#errors), and the callers that the direct
// API accepts.
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { DomainError, fieldError } from '../../../src/kernel/domain-error.js';
import type { VendorReply, VendorStep } from '../../../src/kernel/vendor-reply.js';
import type { AccessKeys, KeyHolder } from '../../../src/published/access-keys.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import { ApiKeys } from '../../../src/surfaces/direct.js';

const at = (path: string) => (error: DomainError) => {
  const { status, headers, body } = SURFACES.reply(error, { url: path, routeOptions: {} } as FastifyRequest);
  return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) };
};
const idv = at('/api/idv/renters/r-1');
const pay = at('/api/pay/payment/checkout-session');

function refused(reply: Partial<VendorReply>, step: VendorStep = 'registration'): DomainError {
  const whole = { status: 422, body: '{"success":false}', code: null, field: null, message: null, ...reply };
  return new DomainError('vendor.refused', { vendor: { reply: whole, step } });
}

describe('an error of the direct API', () => {
  it("has the numeric envelope, with the field's name on the wire", () => {
    expect(idv(fieldError('screening.field_format', 'person.birthDate', 'must be MMDDYYYY'))).toEqual({
      status: 400,
      headers: {},
      text: '{"payload":null,"errors":[{"errorCode":138,"errorOnField":"dob","errorMessage":"dob must be MMDDYYYY."}]}',
    });
  });

  it('places the errors first in the body below /api/pay, with the HTTP status as the code', () => {
    const missing = new DomainError('request.invalid', { field: 'renterId' });
    expect(pay(missing).text).toMatch(/^\{"errors":\[\{"errorCode":400,"errorOnField":"renterId",.*"payload":null\}$/);
    expect(pay(new DomainError('request.too_large')).text).toContain('"errorCode":413');
    expect(pay(new DomainError('request.unreadable_body')).text).toContain('"errorCode":121');
    expect(pay(new DomainError('request.unauthenticated')).text).toContain('"errorCode":324');
    const blockedUntil = '2026-02-01T00:00:00.000Z';
    const locked = pay(new DomainError('party.locked', { blockedUntil }));
    expect([locked.status, JSON.parse(locked.text).errors]).toEqual([
      423,
      [{ errorCode: 423, errorOnField: null, errorMessage: `User is blocked until ${blockedUntil}.` }],
    ]);
  });

  // The same code also means that one renter has too many requests at once.
  it('does not name the processor in a 503 with another cause below /api/pay', () => {
    expect(pay(new DomainError('service.unavailable')).text).not.toMatch(/processor/i);
  });

  it("says for a locked party when the lock ends, and passes on the vendor's reply", () => {
    const blockedUntil = '2026-02-01T00:00:00.000Z';
    const { status, text } = idv(
      new DomainError('party.locked', { blockedUntil, vendor: refused({ body: '{"n":1.0}' }).detail.vendor! }),
    );
    expect([status, text]).toEqual([
      423,
      `{"payload":{"n":1.0},"errors":[{"errorCode":300,"errorOnField":null,"errorMessage":"User is blocked until ${blockedUntil}."}]}`,
    ]);
  });

  it('has the reduced body for an exclude parameter', () => {
    const { status, text } = idv(new DomainError('exclusion.invalid', { field: 'excludeBackground' }));
    const message = 'excludeBackground must be true or false.';
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { errors: [{ errorCode: 138, errorOnField: 'excludeBackground', message }], message },
    ]);
  });

  it('says in its payload when a payment would remove it', () => {
    expect(JSON.parse(idv(new DomainError('report.consumer_has_not_paid')).text)).toMatchObject({
      payload: { reason: 'NO_COMPLETED_PAYMENT', message: expect.any(String) },
      errors: [{ errorCode: 285 }],
    });
  });

  it.each([
    ['service.unavailable', 503],
    ['service.upstream_timeout', 504],
    ['request.rate_limited', 429],
    ['screening.resend_too_early', 429],
  ] as const)('%s has a Retry-After header', (code, status) => {
    expect(idv(new DomainError(code))).toMatchObject({ status, headers: { 'retry-after': expect.any(String) } });
    expect(idv(new DomainError(code, { retryAfterSeconds: 77 })).headers['retry-after']).toBe('77');
  });
});

describe('a challenge without resends left', () => {
  it('asks the caller to wait until the challenge has ended', () => {
    expect(idv(new DomainError('screening.too_many_resends'))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1800' },
    });
  });
});

describe("a vendor's refusal", () => {
  const heard = (reply: Partial<VendorReply>, step?: VendorStep): unknown[] => {
    const { status, text } = idv(refused(reply, step));
    const { payload, errors } = JSON.parse(text);
    return [status, errors[0].errorCode, errors[0].errorOnField, payload];
  };

  it('is passed on with 422, and is answered without a payload in other cases', () => {
    expect(heard({ code: 10 })).toEqual([422, 2010, null, { success: false }]);
    expect(heard({ code: 45, field: 'person.lastName' })).toEqual([400, 2045, 'lastName', null]);
  });

  it('with a number outside the tables is answered by its HTTP status', () => {
    expect(heard({ code: 4242, status: 422, field: 'address.postalCode' })).toEqual([400, 121, 'currentZip', null]);
    expect(heard({ code: 4242, status: 500 })).toEqual([502, 131, null, null]);
    expect(heard({ code: null, status: 404 })).toEqual([400, 121, null, null]);
    // A refusal of the vendor with a success status.
    expect(heard({ code: null, status: 200 })).toEqual([502, 131, null, null]);
  });

  it('that locks a person out is answered by its number when it has a number', () => {
    const { vendor } = refused({ code: 2501 }).detail;
    const { status, text } = idv(new DomainError('party.locked', { blockedUntil: 'later', vendor: vendor! }));
    expect([status, JSON.parse(text).errors[0].errorCode]).toEqual([422, 2501]);
  });
});

describe('an API key', () => {
  const holder = { keyId: 'key', accountId: 'account', environment: 'test', clientClass: 'first_party' } as const;
  const keys = (found: KeyHolder | null): AccessKeys =>
    ({
      authenticate: async (kind: string, key: string) => (kind === 'api' && key === 'right' ? found : null),
    }) as never;
  const admit = async (headers: object, found: KeyHolder | null = holder): Promise<FastifyRequest> => {
    const request = { headers } as FastifyRequest;
    await new ApiKeys(keys(found)).admit(request);
    return request;
  };

  it('has an account, an environment and a client class', async () => {
    expect((await admit({ 'x-api-key': 'right' })).principal).toEqual({
      actor: { kind: 'api-key', id: 'key' },
      accountId: 'account',
      environment: 'test',
      clientClass: 'first_party',
    });
  });

  it.each([
    ['missing', {}],
    ['unknown', { 'x-api-key': 'wrong' }],
    ['sent twice', { 'x-api-key': ['right', 'right'] }],
  ])('that is %s is answered 403 with 324', async (_, headers) => {
    const refusal = (await admit(headers).catch((error: unknown) => error)) as DomainError;
    expect(refusal).toBeInstanceOf(DomainError);
    expect(idv(refusal)).toMatchObject({
      status: 403,
      text: '{"payload":null,"errors":[{"errorCode":324,"errorOnField":null,"errorMessage":"invalid client secret"}]}',
    });
  });
});
