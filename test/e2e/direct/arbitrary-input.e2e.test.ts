// Every request to a route of the direct API gets a documented status in the envelope, whatever it holds. No request
// gets a 500 or a stack trace.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aRegistration, DirectCaller } from '../../support/direct.js';
import { type Reply, Service } from '../../support/service.js';

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly statuses: ReadonlySet<number>;
}

let service: Service;
let caller: DirectCaller;
let routes: readonly Route[];

beforeAll(async () => {
  service = await Service.shared('plain');
  caller = await DirectCaller.of(service);
  const { body } = await service.request('GET', '/openapi/direct.json');
  routes = Object.entries<Record<string, { responses: object }>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: path.slice('/api'.length),
      statuses: new Set(Object.keys(responses).map(Number)),
    })),
  );
  await caller.registered('renters', 'known', { lastName: 'Choicetest' });
  await caller.registered('agents', 'known');
  await caller.registered('organizations', 'known', { lastName: 'Kbatest' });
});
afterAll(() => service.stop());

function expectDocumented({ name, path, statuses }: Route, { status, text, body, headers }: Reply): void {
  expect({ name, status, documented: statuses.has(status) }).toEqual({ name, status, documented: true });
  // The test stored a token for an organization that the vendor does not know. The service passes on the vendor's
  // error.
  if (body?.errors?.[0]?.errorCode !== 1010) expect([name, status < 500]).toEqual([name, true]);
  expect(text).not.toMatch(/(?:\n|\\n)\s*at .+:\d+:\d+|node_modules|Error:/);
  if (status === 200 && headers.get('content-type')?.startsWith('text/html')) return;
  const reduced = body.payload === undefined && status === 400;
  const keys = path.startsWith('/pay') ? ['errors', 'payload'] : ['payload', 'errors'];
  expect(Object.keys(body)).toEqual(reduced ? ['errors', 'message'] : keys);
  for (const error of body.errors)
    expect(error).toEqual(
      reduced
        ? { errorCode: 138, errorOnField: expect.any(String), message: expect.any(String) }
        : {
            errorCode: expect.any(Number),
            errorOnField: error.errorOnField === null ? null : expect.any(String),
            errorMessage: expect.stringMatching(/./),
          },
    );
  // A refusal has no error in the reply only when the person's answers were wrong.
  if (status === 200) expect(body.errors).toEqual([]);
  else if (status !== 422) expect(body.errors).toHaveLength(1);
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    'null',
    '1e999',
    '__proto__',
    '<script>',
    "' OR 1=1 --",
    '../../etc/passwd',
  ),
);
const ids = fc.oneof(
  { weight: 3, arbitrary: fc.constant('known') },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 140 })
      .filter((text) => !/^\.{1,2}$/.test(text))
      .map(encodeURIComponent),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%00', '%2F', '%252e%252e', '%zz', '%', '%ff', '%F0%9F%98%80', 'x'.repeat(3_000)),
  },
);
const FIELDS = [
  ...Object.keys(aRegistration()),
  'middleName',
  'productId',
  'propertyZip',
  'code',
  'otp',
  'kbaAnswers',
  'unitAddress',
  'renterId',
  'successUrl',
  'cancelUrl',
  'reportFlags',
  '__proto__',
];
const bodies = fc.oneof(
  anything,
  fc.dictionary(fc.constantFrom(...FIELDS), anything, { maxKeys: 6 }),
  fc
    .dictionary(fc.constantFrom(...FIELDS), anything, { maxKeys: 3 })
    .map((spoiled) => ({ ...aRegistration(), ...spoiled })),
  fc.record({ kbaAnswers: fc.array(fc.record({ answer: anything }), { maxLength: 6 }) }),
);
const queries = fc.oneof(
  fc.webQueryParameters(),
  fc
    .dictionary(
      fc.constantFrom('format', 'excludeBackground', 'excludeHousingCourt', 'productId', 'contentType', 'token'),
      fc.oneof(fc.constantFrom('json', 'html', 'true', 'false'), fc.string({ maxLength: 40 })),
    )
    .map((parameters) => new URLSearchParams(parameters).toString()),
);

describe('arbitrary input to the direct API', () => {
  it.each(['/idv/renters', '/idv/agents', '/idv/organizations', '/pay'])(
    'gets documented statuses in the envelope, on every route below %s',
    (below) => {
      const these = routes.filter(({ path }) => path.startsWith(below));
      return fc.assert(
        fc.asyncProperty(
          fc.nat(),
          ids,
          ids,
          bodies,
          queries,
          fc.constantFrom('application/json', 'text/html', '*/*', 'image/png'),
          async (which, one, other, body, query, accept) => {
            const route = these[which % these.length] as Route;
            let filled = 0;
            const path = route.path.replace(/\{\w+\}/g, () => (filled++ === 0 ? one : other));
            const sent = route.method === 'GET' || route.method === 'DELETE' ? undefined : JSON.stringify(body);
            expectDocumented(route, await caller.send(route.method, `${path}?${query}`, sent, { accept }));
          },
        ),
        { numRuns: 175 },
      );
    },
  );

  it('leaves the service healthy', async () => {
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
    expect(service.program.output).not.toContain('"msg":"request failed"');
  });
});
