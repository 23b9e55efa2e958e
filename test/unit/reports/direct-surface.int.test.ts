// The report routes of the direct API over real HTTP: formats, exclusions, links and all spellings of their paths.
import 'reflect-metadata';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { VendorReply } from '../../../src/kernel/vendor-reply.js';
import type { PartyFacts } from '../../../src/published/parties.js';
import type { ScreeningFacts } from '../../../src/published/screenings.js';
import { type ReportSurfaces, openSurfaces } from './surfaces.js';
import { GIVEN, Harness, REPORT, SCORE } from './harness.js';

const BACKGROUND = [
  { jurisdiction: 'County', offense: 'Theft', severity: 'LOW', date: '2020-01-01', disposition: 'DISMISSED' },
];
const BUREAU = { score: SCORE, report: { ...REPORT, background: BACKGROUND } };
/** The bureau's own text. No program would write these numbers and spaces in this way. */
const TEXT = ` ${JSON.stringify(BUREAU).replace('712', '7.12e2').replace('{', '{ "id": 12345678901234567890,')}`;
const UNIT = { unitAddress: '1 Main Street, unit 4' };

describe('the report routes of the direct API', () => {
  let harness: Harness;
  let surfaces: ReportSurfaces;
  let owner: string;
  let sessionId: string;

  beforeAll(async () => {
    harness = await Harness.build();
    surfaces = await openSurfaces(harness);
  });
  afterAll(async () => {
    await surfaces.app.close();
    await harness.close();
  });
  beforeEach(async () => {
    surfaces.limiter.endWindows(60);
    harness.bureau.answers = [{ kind: 'report', ...BUREAU, reply: replied(200, TEXT) }];
    owner = await harness.account();
    sessionId = registered();
    harness.parties.set('agent', 'a 1', owner);
    harness.parties.set('organization', 'o/1', owner);
  });

  function replied(status: number, body: string, code: number | null = null): VendorReply {
    return { status, body, code, field: null, message: null };
  }
  /** The renter `r 1`, who is verified. */
  function registered(facts: Partial<ScreeningFacts> = {}, party: Partial<PartyFacts> = {}): string {
    const { partyId } = harness.parties.set('renter', 'r 1', owner);
    const id = harness.session(owner, { partyId, ...facts });
    harness.parties.set('renter', 'r 1', owner, { sessionIds: [id], ...party });
    return id;
  }
  function send(
    method: string,
    path: string,
    { as = 'first_party', body, accept }: { as?: 'partner' | 'first_party'; body?: unknown; accept?: string } = {},
  ): Promise<Response> {
    return fetch(`${surfaces.base}/api/idv/${path}`, {
      method,
      headers: {
        'x-api-key': `${as}_${owner}`,
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
  const get = (path: string, options?: { as?: 'partner' | 'first_party'; accept?: string }): Promise<Response> =>
    send('GET', path, options);
  const typeOf = (reply: Response): string | undefined => reply.headers.get('content-type')?.split(';')[0];
  async function refused(reply: Response): Promise<[number, number, string | null]> {
    const { payload, errors } = (await reply.json()) as any;
    expect([payload, errors]).toEqual([null, [expect.objectContaining({ errorMessage: expect.any(String) })]]);
    return [reply.status, errors[0].errorCode, errors[0].errorOnField];
  }

  describe('GET /api/idv/renters/{id}/report', () => {
    it("200 with the bureau's own text and no-store, and the same reply without /report", async () => {
      for (const path of ['renters/r%201/report', 'renters/r%201']) {
        const reply = await get(path);
        expect([reply.status, await reply.text()]).toEqual([200, `{"payload":${TEXT},"errors":[]}`]);
        expect(Object.fromEntries(reply.headers)).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'no-store',
        });
      }
    });

    it("200 with the service's own JSON when the bureau's text is missing", async () => {
      harness.bureau.answers = [GIVEN];
      expect(await (await get('renters/r%201/report')).json()).toEqual({
        payload: { score: SCORE, report: REPORT },
        errors: [],
      });
    });

    it.each([
      ['partner', undefined, '', 'text/html'],
      ['first_party', undefined, '', 'application/json'],
      ['partner', '*/*', '', 'text/html'],
      ['first_party', '*/*', '', 'application/json'],
      ['partner', 'application/json', '', 'application/json'],
      ['first_party', 'text/html;q=0.9, application/json;q=0.5', '', 'text/html'],
      ['partner', 'text/html', '?format=json', 'application/json'],
      ['partner', 'application/json', '?format=', 'application/json'],
      ['first_party', 'image/png', '?format=html', 'text/html'],
      ['first_party', undefined, '?contentType=x&productId=7&testConsumerToken=t', 'application/json'],
    ] as const)('200 for a %s with Accept %s and the query %j, as %s', async (as, accept, query, type) => {
      const reply = await get(`renters/r%201/report${query}`, { as, ...(accept !== undefined && { accept }) });
      expect([reply.status, typeOf(reply)]).toEqual([200, type]);
    });

    it('406 for an unknown format, before anything is pulled', async () => {
      harness.bureau.asked.length = 0;
      for (const path of ['?format=pdf', '?format=json&format=html'])
        expect(await refused(await get(`renters/r%201/report${path}`))).toEqual([406, 121, null]);
      expect(await refused(await get('renters/r%201/report', { accept: 'application/pdf' }))).toEqual([406, 121, null]);
      expect(harness.bureau.asked).toEqual([]);
    });

    it('200 without the excluded sections in the JSON, with a page that names the exclusion, and with the rest unchanged', async () => {
      const both = '?excludeBackground=true&excludeHousingCourt=true';
      const text = await (await get(`renters/r%201/report${both}`)).text();
      const { background: _, housingCourt: __, ...rest } = BUREAU.report;
      expect((JSON.parse(text) as any).payload).toEqual({ id: expect.any(Number), score: SCORE, report: rest });
      expect(text).toContain('12345678901234567890');
      expect(text).toContain('7.12e2');
      const page = await (await get(`renters/r%201/report${both}&format=html`)).text();
      expect(page).toMatch(/<!-- As served: [\w+/]{43}= -->$/);
      const stated = (title: string): boolean => page.includes(`<h2>${title}</h2>\n<p>Left out at the request of `);
      expect([stated('Background'), stated('Housing court'), stated('Inquiries')]).toEqual([true, true, false]);
      expect(page).not.toContain('Searched: credit accounts, public records, ');
      const one = await (await get('renters/r%201/report?excludeBackground=false&excludeHousingCourt=true')).text();
      expect([one.includes('"background"'), one.includes('housingCourt')]).toEqual([true, false]);
    });

    it.each(['excludeBackground', 'excludeHousingCourt'])(
      '400 in the short form when %s is not a boolean',
      async (name) => {
        for (const value of ['1', '', 'TRUE', `true&${name}=true`]) {
          const reply = await get(`renters/r%201/report?${name}=${value}`);
          const message = expect.stringContaining(name);
          expect([reply.status, await reply.json()]).toEqual([
            400,
            { errors: [{ errorCode: 138, errorOnField: name, message }], message },
          ]);
        }
      },
    );

    it.each<[number, number, string | null, () => void]>([
      [404, 278, null, () => (owner = 'nobody')],
      [423, 300, null, () => registered({}, { lockedUntil: '2026-03-01T13:00:00.000Z' })],
      [401, 9010, null, () => registered({}, { authenticated: false })],
      [409, 341, null, () => registered({ environment: 'live' })],
      [502, 131, null, () => (harness.bureau.answers = [{ kind: 'unavailable' }])],
      [504, 131, null, () => (harness.bureau.answers = [{ kind: 'timed-out' }])],
    ])('%i/%i', async (status, code, field, given) => {
      given();
      expect(await refused(await get('renters/r%201/report'))).toEqual([status, code, field]);
    });

    it('400/138 tokenExpiration after 30 days; report-expiry gives the time both before and after', async () => {
      const expiry = async (): Promise<unknown> => (await get('renters/r%201/report-expiry')).json();
      expect(await expiry()).toEqual({ payload: { tokenExpiration: null }, errors: [] });
      await get('renters/r%201/report');
      const told = {
        payload: { tokenExpiration: new Date(harness.clock.time + 30 * 86_400_000).toISOString() },
        errors: [],
      };
      expect(await expiry()).toEqual(told);
      harness.clock.pass(30 * 86_400);
      expect(await refused(await get('renters/r%201/report'))).toEqual([400, 138, 'tokenExpiration']);
      expect(await expiry()).toEqual(told);
      expect(await refused(await get('renters/unknown/report-expiry'))).toEqual([404, 278, null]);
    });

    it('402/285 with the reason when the renter has not paid, and when the account has no credit', async () => {
      registered({ overallStatus: 'PAYMENT_PENDING' });
      const unpaid = await get('renters/r%201/report');
      owner = await harness.account(0);
      registered();
      const broke = await get('renters/r%201/report');
      for (const [reply, reason] of [
        [unpaid, 'NO_COMPLETED_PAYMENT'],
        [broke, 'NO_CREDIT'],
      ] as const) {
        expect([reply.status, await reply.json()]).toMatchObject([
          402,
          { payload: { reason, message: expect.any(String) }, errors: [{ errorCode: 285, errorOnField: null }] },
        ]);
      }
    });

    it("the bureau's status and number, with its reply as payload, when the bureau refuses", async () => {
      const said = '{"error": {"code": 9132.0}}';
      harness.bureau.answers = [
        { kind: 'refused', reason: 'FILE_FROZEN', upstreamCode: 9132, reply: replied(422, said, 9132) },
      ];
      const reply = await get('renters/r%201/report');
      const text = await reply.text();
      expect([reply.status, text.startsWith(`{"payload":${said},"errors":[{"errorCode":9132,`)]).toEqual([422, true]);
    });

    it('429/121 with Retry-After over the limit of one account', async () => {
      for (let count = 0; count < harness.policy.limits.readsPerMinute; count += 1)
        await surfaces.limiter.take([{ key: `report-reads:${owner}:test`, limit: 60, windowSeconds: 60 }]);
      const reply = await get('renters/r%201/report');
      expect(reply.headers.get('retry-after')).toBe('60');
      expect(await refused(reply)).toEqual([429, 121, null]);
    });
  });

  describe.each([
    ['agents', 'a%201', 'o%2F1', 'organizations'],
    ['organizations', 'o%2F1', 'a%201', 'agents'],
  ])('links of %s', (kind, id, otherId, other) => {
    /** All spellings of one path. */
    const spelled = (suffix = ''): string[] => [
      `${kind}/${id}/renters/r%201${suffix}`,
      `renters/r%201/${kind}/${id}${suffix}`,
    ];
    const done = { payload: { success: true }, errors: [] };

    it('200 for each spelling of the path: to link, read, get the score and unlink', async () => {
      for (const path of spelled()) {
        const linked = await send('PUT', path, { body: UNIT });
        expect([linked.status, await linked.json()]).toEqual([200, done]);
        for (const reading of [...spelled(), ...spelled('/report')])
          expect(await (await get(reading)).text()).toBe(`{"payload":${TEXT},"errors":[]}`);
        for (const scoring of spelled('/credit-score'))
          expect(await (await get(scoring)).json()).toEqual({ payload: { creditScore: 712 }, errors: [] });
        for (const _ of [1, 2]) expect(await (await send('DELETE', path)).json()).toEqual(done);
        for (const reading of [...spelled(), ...spelled('/report')])
          expect(await refused(await get(reading))).toEqual([422, 9016, null]);
        for (const scoring of spelled('/credit-score'))
          expect(await (await get(scoring)).json()).toEqual({ payload: { creditScore: null }, errors: [] });
      }
      expect(
        (await harness.ofType('ReportShared')).filter(({ data }) => (data as any).sessionId === sessionId),
      ).toHaveLength(2);
    });

    it('have the formats and exclusions of every report', async () => {
      const [path] = spelled('/report');
      await send('PUT', spelled()[0]!, { body: UNIT });
      expect(typeOf(await get(path!, { as: 'partner' }))).toBe('text/html');
      expect(await (await get(`${path}?excludeBackground=true`)).text()).not.toContain('background');
      expect((await get(`${path}?excludeBackground=yes`)).status).toBe(400);
      expect((await get(`${path}?format=xml`)).status).toBe(406);
    });

    it.each<[unknown, boolean]>([
      ['x'.repeat(255), true],
      [{ address: '1 Main Street', city: 'Springfield', state: 'IL', zip: '62701', more: 1 }, true],
      [undefined, false],
      [null, false],
      ['', false],
      ['  ', false],
      ['x'.repeat(256), false],
      [7, false],
      [['1 Main Street'], false],
      [{}, false],
      [{ address: '1 Main Street', city: 'Springfield', state: 'IL' }, false],
      [{ address: '1 Main Street', city: 'Springfield', state: 'IL', zip: 62701 }, false],
    ])('accepts the unit address %j: %j', async (unitAddress, taken) => {
      const reply = await send('PUT', spelled()[1]!, { body: { unitAddress } });
      if (taken) expect(reply.status).toBe(200);
      else expect(await refused(reply)).toEqual([400, 138, 'unitAddress']);
    });

    it('400 for a missing or malformed body', async () => {
      expect(await refused(await send('PUT', spelled()[0]!))).toEqual([400, 138, 'unitAddress']);
      expect(await refused(await send('PUT', spelled()[0]!, { body: '[]' }))).toEqual([400, 138, 'unitAddress']);
      expect(await refused(await send('PUT', spelled()[0]!, { body: '{"unitAddress":' }))).toEqual([400, 121, null]);
    });

    it('404 for an unknown renter, agent or organization, but a null score for an unknown renter', async () => {
      for (const path of [`${kind}/${otherId}/renters/r%201`, `renters/r%201/${kind}/unknown`]) {
        expect(await refused(await send('PUT', path, { body: UNIT }))).toEqual([404, 293, null]);
        for (const reply of [
          await send('DELETE', path),
          await get(`${path}/report`),
          await get(`${path}/credit-score`),
        ])
          expect(await refused(reply)).toEqual([404, 293, null]);
      }
      const path = `${kind}/${id}/renters/unknown`;
      expect(await refused(await send('PUT', path, { body: UNIT }))).toEqual([404, 278, null]);
      for (const reply of [await send('DELETE', path), await get(path)])
        expect(await refused(reply)).toEqual([404, 278, null]);
      expect(await (await get(`${path}/credit-score`)).json()).toEqual({ payload: { creditScore: null }, errors: [] });
    });

    it('422/9016 for another party, 401/9011 when the party is not authenticated, 422/9015 after 24 months', async () => {
      await send('PUT', spelled()[0]!, { body: UNIT });
      expect(await refused(await get(`${other}/${otherId}/renters/r%201/report`))).toEqual([422, 9016, null]);
      harness.clock.pass(735 * 86_400);
      expect(await refused(await get(spelled('/report')[0]!))).toEqual([422, 9015, null]);
      if (kind === 'agents') harness.parties.set('agent', 'a 1', owner, { authenticated: false });
      else harness.parties.set('organization', 'o/1', owner, { authenticated: false });
      expect(await refused(await get(spelled('/report')[0]!))).toEqual([401, 9011, null]);
    });

    it('200 although the renter has not paid, and 402 when the account has no credit', async () => {
      registered({ overallStatus: 'PAYMENT_PENDING' });
      expect((await send('PUT', spelled()[0]!, { body: UNIT })).status).toBe(200);
      expect((await get(spelled('/report')[0]!)).status).toBe(200);
      owner = await harness.account(0);
      registered();
      harness.parties.set('agent', 'a 1', owner);
      harness.parties.set('organization', 'o/1', owner);
      const reply = await send('PUT', spelled()[0]!, { body: UNIT });
      expect([reply.status, await reply.json()]).toMatchObject([402, { payload: { reason: 'NO_CREDIT' } }]);
    });

    it('403/324 without the key', async () => {
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect(await refused(await fetch(`${surfaces.base}/api/idv/${spelled()[0]}`, { method }))).toEqual([
          403,
          324,
          null,
        ]);
    });
  });
});
