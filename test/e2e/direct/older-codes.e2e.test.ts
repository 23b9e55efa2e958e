// Every error number of a vendor, and the answer of the service over HTTP (docs/contract/direct.md#older-codes). The
// middle name of a person chooses the number that the sandbox answers. Numbers of the credit file occur when the report
// is pulled, and all other numbers at the registration.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CREDIT_FILE_CODES,
  type NumericCode,
  OLDER_CODES,
  UPSTREAM_CASES,
} from '../../architecture/spec/numeric-codes.js';
import { DirectCaller } from '../../support/direct.js';
import { type Reply, Service } from '../../support/service.js';

let service: Service;
let server: DirectCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  server = await DirectCaller.of(service);
});
afterAll(() => service.stop());

/** Error numbers from here on belong to the credit file. Lower numbers belong to the identity vendor. */
const FIRST_FILE_CODE = 9_000;
const fileCodes = CREDIT_FILE_CODES.flatMap(({ status, codes }) => codes.map((code) => ({ code, status })));
const atTheReport = [...OLDER_CODES, ...fileCodes].filter(({ code }) => code >= FIRST_FILE_CODE);
const atRegistration = [
  ...OLDER_CODES.filter(({ code }) => code < FIRST_FILE_CODE).map((row) => ({ ...row, number: row.code })),
  ...UPSTREAM_CASES.filter(({ step }) => step === 'registration'),
];

function expectRefusal(
  reply: Reply,
  { status, code }: { readonly status: number | undefined; readonly code: number },
): void {
  expect([reply.status, reply.body.errors]).toEqual([
    status,
    [{ errorCode: code, errorOnField: null, errorMessage: expect.any(String) }],
  ]);
  // The payload of the reply holds the vendor's own answer when the service passes the answer on.
  expect(reply.body.payload).toEqual(
    status === 422 ? { error: { code: expect.any(Number), message: expect.any(String) } } : null,
  );
  expect(reply.headers.has('retry-after')).toBe(status === 503 || status === 504);
}

describe('an error number of a vendor', () => {
  it.each(atRegistration)('$number at registration becomes $code with $status', async ({ number, ...expected }) => {
    const reply = await server.register('renters', `registration-${number}`, { middleName: `Upstream${number}` });
    expectRefusal(reply, expected);
    const { message } = OLDER_CODES.find((row) => row.code === expected.code) as NumericCode;
    expect(reply.body.errors[0].errorMessage).toBe(expected.code === 2502 ? 'auth general error' : message);
  });

  it.each(atTheReport)('$code at the report stays $code with $status', async ({ code, status }) => {
    const registered = await server.register('renters', `report-${code}`, { middleName: `Upstream${code}` });
    expect([registered.status, registered.body.payload.userAuthenticated]).toEqual([200, true]);
    expectRefusal(await server.get(`/renters/report-${code}/report?format=json`), { status, code });
  });

  it.each([
    ['Upstream1004AtAuth', 1004, 400],
    ['Upstream1010AtAuth', 1010, 500],
    ['Upstream720AtAuth', 3001, 503],
    ['Upstream3001AtAuth', 3001, 500],
    ['Upstream710AtAuth', 3009, 504],
    ['Upstream2501AtAuth', 2501, 422],
  ])('%s becomes %i with %i when an agent authenticates again', async (middleName, code, status) => {
    const path = `/agents/${middleName}`;
    expect((await server.register('agents', middleName, { middleName })).status).toBe(200);
    expectRefusal(await server.post(`${path}/auth`, { jscPayload: 'fingerprint' }), { status, code });
  });

  it.each([
    ['Upstream3008', 3008, 401],
    ['Upstream2502', 2502, 401],
    ['Upstream3015', 3015, 422],
    ['Upstream1999', 1999, 422],
    ['Upstream710', 2500, 504],
  ])('%s becomes %i with %i for an answer, also in a re-authentication', async (number, code, status) => {
    const registration = `${number}AtAnswers`;
    await server.registered('renters', registration, { lastName: 'Otptest', middleName: registration });
    const answer = { code: '123456' };
    expectRefusal(await server.post(`/renters/${registration}/otp`, answer), { status, code });
    const again = `${number}AtAuthAnswers`;
    await server.registered('agents', again, { middleName: again });
    expect((await server.post(`/agents/${again}/auth`, { jscPayload: 'fingerprint' })).status).toBe(200);
    expectRefusal(await server.post(`/agents/${again}/auth/otp`, answer), {
      status,
      code: code === 2500 ? 3009 : code,
    });
  });

  it.each([
    ['Upstream362', 2000, 503, 'authentication service unavailable'],
    ['Upstream720', 2001, 422, 'auth general error'],
    ['Upstream2502', 2502, 401, 'auth general error'],
  ])('%s becomes %i with %i when a code is sent again', async (number, code, status, message) => {
    const middleName = `${number}AtResend`;
    await server.registered('renters', middleName, { lastName: 'Otptest', middleName });
    const reply = await server.get(`/renters/${middleName}/otp/resend`);
    expectRefusal(reply, { status, code });
    expect(reply.body.errors[0].errorMessage).toBe(message);
  });

  it('that is not in a table becomes the answer for its HTTP status', async () => {
    const reply = await server.register('renters', 'unlisted', { middleName: 'Upstream4242' });
    expectRefusal(reply, { status: 400, code: 121 });
  });
});
