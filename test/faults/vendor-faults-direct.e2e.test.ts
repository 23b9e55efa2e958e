// A vendor that fails at each operation of the direct API that calls it (docs/contract/direct.md). The service gives
// the documented answers, and no party needs repair by an operator.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { aRegistration, DirectCaller } from '../support/direct.js';
import { type Reply, Service } from '../support/service.js';

let service: Service;
let server: DirectCaller;

beforeAll(async () => {
  // The time is short, because the service waits this long for a silent vendor.
  service = await Service.start({ VENDOR_TIMEOUT: '6' });
  server = await DirectCaller.of(service);
});
afterAll(() => service.stop());

const DEVICE = { jscPayload: 'fingerprint' };
const RIGHT_CODE = { code: '123456' };
const RIGHT_ANSWERS = { kbaAnswers: [1, 2, 3, 4].map((answer) => ({ answer })) };

/** The steps before the fault, and the call that meets the fault. */
const OPERATIONS: Readonly<
  Record<string, readonly [kind: 'renters' | 'agents', lastName: string, before: readonly Step[], asked: Step]>
> = {
  registration: ['renters', 'Smith', [], (path) => server.post(path, aRegistration({ lastName: 'Smith' }))],
  code: ['renters', 'Otptest', [register], (path) => server.post(`${path}/otp`, RIGHT_CODE)],
  answers: ['renters', 'Kbatest', [register], (path) => server.post(`${path}/kba`, RIGHT_ANSWERS)],
  report: ['renters', 'Smith', [register], (path) => server.get(`${path}/report?format=json`)],
  're-authentication': ['agents', 'Smith', [register], (path) => server.post(`${path}/auth`, DEVICE)],
  'code of a re-authentication': [
    'agents',
    'Smith',
    [register, (path) => server.post(`${path}/auth`, DEVICE)],
    (path) => server.post(`${path}/auth/otp`, RIGHT_CODE),
  ],
  'status of an authentication': ['agents', 'Smith', [register], (path) => server.get(`${path}/auth/status`)],
  'end of an authentication': ['agents', 'Smith', [register], (path) => server.get(`${path}/auth/expire`)],
};

type Step = (path: string, lastName: string) => Promise<Reply>;

function register(path: string, lastName: string): Promise<Reply> {
  return server.post(path, aRegistration({ lastName }));
}

async function meets(operation: string, fault: string): Promise<Reply> {
  const [kind, lastName, before, asked] = OPERATIONS[operation]!;
  const path = `/${kind}/${newId()}`;
  for (const step of before) expect((await step(path, lastName)).status).toBe(200);
  const response = await fetch(`${service.sandboxUrl}/control/fault`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ fault }),
  });
  expect(response.status).toBe(200);
  return asked(path, lastName);
}

/**
 * Operations that the service repeats within the time limit. The vendor executes such an operation once, or the
 * operation changes nothing.
 */
const REPEATED = ['report', 'status of an authentication', 'end of an authentication'];

describe.each(Object.keys(OPERATIONS))('%s', (operation) => {
  it('when the vendor resets the connection: the service repeats the call if this is safe, and otherwise answers 502 with 131', async () => {
    const reply = await meets(operation, 'reset');
    const errors = reply.body.errors.map(({ errorCode }: { errorCode: number }) => errorCode);
    expect([reply.status, errors]).toEqual(REPEATED.includes(operation) ? [200, []] : [502, [131]]);
  });

  it.each([
    ['down', 502],
    ['redirect', 502],
    ['garbled', 502],
    ['silent', 504],
  ])('when the vendor is %s: answers %i with 131', async (fault, status) => {
    const reply = await meets(operation, fault);
    expect([fault, reply.status, reply.body]).toEqual([
      fault,
      status,
      { payload: null, errors: [{ errorCode: 131, errorOnField: null, errorMessage: expect.any(String) }] },
    ]);
    expect(reply.headers.has('retry-after')).toBe(status === 504);
  });
});
