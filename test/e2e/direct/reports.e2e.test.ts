// Reports of renters and their links to agents and organizations, on the whole service (docs/contract/direct.md#reports, #links).
// `test/unit/reports/direct-surface.int.test.ts` covers every path, format and refusal over HTTP.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../../support/direct.js';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { type Credentials, type Reply, Service } from '../../support/service.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNIT = { unitAddress: '47 Canary Wharf Lane, unit 9' };
const DONE = { payload: { success: true }, errors: [] };

let service: Service;
let accounts: Credentials['accounts'];
/** The consumers of this account do not pay. The account is a partner, so its reports are HTML by default. */
let nopay: DirectCaller;
let demo: DirectCaller;
let broke: DirectCaller;
let webhooks: EndpointOwner;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  [nopay, demo, broke] = await Promise.all([
    DirectCaller.of(service, 'nopay'),
    DirectCaller.of(service, 'demo'),
    DirectCaller.of(service, 'broke'),
  ]);
  webhooks = new EndpointOwner(service, accounts.nopay);
  // No receiver listens at this address. The delivery log shows the deliveries.
  await webhooks.register('https://127.0.0.1:9/hook');
  for (const caller of [nopay, demo, broke]) {
    await registered(caller, 'agents', 'agent');
    await registered(caller, 'organizations', 'office');
  }
});
afterAll(() => service.stop());

const told = ({ status, body }: Reply): [number, number, string | null] => [
  status,
  body.errors[0]?.errorCode,
  body.errors[0]?.errorOnField,
];

async function registered(
  caller: DirectCaller,
  kind: 'renters' | 'agents' | 'organizations',
  id: string,
  person: object = {},
): Promise<string> {
  const { status, body, text } = await caller.register(kind, id, { ...person });
  if (status !== 200 || body.payload.userAuthenticated !== true) throw new Error(`Not registered: ${status} ${text}`);
  return id;
}

/** The number of events of this type that the account should receive. */
async function eventsOf(type: string): Promise<number> {
  return (await webhooks.deliveries({ event_type: type })).length;
}

describe("a renter's report", () => {
  it("200: HTML for a partner, the bureau's JSON for a first party or on request, and the same replies without /report", async () => {
    const renter = await registered(nopay, 'renters', 'reader');
    expect((await nopay.get(`/renters/${renter}/report-expiry`)).body).toEqual({
      payload: { tokenExpiration: null },
      errors: [],
    });
    const page = await nopay.get(`/renters/${renter}/report`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Housing court');
    const { key } = JSON.parse(
      (
        await service.ops(
          ...['keys', 'issue', accounts.nopay.accountId, '--kind', 'api', '--environment', 'test'],
          ...['--client-class', 'first_party'],
        )
      ).stdout,
    );
    const firstParty = new DirectCaller(service, { 'x-api-key': key });
    const replies = await Promise.all([
      firstParty.get(`/renters/${renter}/report`),
      nopay.get(`/renters/${renter}/report`, { accept: 'application/json' }),
      nopay.get(`/renters/${renter}?format=json`),
    ]);
    for (const { status, text, body } of replies) {
      expect([status, text]).toEqual([200, replies[0]?.text]);
      expect(body).toMatchObject({
        payload: { score: { value: expect.any(Number) }, report: { tradeLines: expect.any(Array) } },
      });
    }
    expect((await nopay.get(`/renters/${renter}/report-expiry`)).body.payload.tokenExpiration).toMatch(TIME);
  });

  it('leaves out the excluded parts', async () => {
    const renter = await registered(nopay, 'renters', 'excluding');
    const whole = (await nopay.get(`/renters/${renter}/report?format=json`)).body.payload;
    const { background: _, ...report } = whole.report;
    expect((await nopay.get(`/renters/${renter}/report?format=json&excludeBackground=true`)).body.payload).toEqual({
      ...whole,
      report,
    });
    const page = (await nopay.get(`/renters/${renter}/report?excludeHousingCourt=true`)).text;
    expect(page).toMatch(/<h2>Housing court<\/h2>\s*<p>Left out at the request of /);
    expect(page.match(/Left out at the request of /g)).toHaveLength(1);
    const reply = await nopay.get(`/renters/${renter}/report?excludeBackground=yes`);
    expect([reply.status, Object.keys(reply.body)]).toEqual([400, ['errors', 'message']]);
  });

  it('404/278 for an unknown renter and for one of another account, 401/9010 before the identity is confirmed, 402/285 before the payment', async () => {
    const renter = await registered(demo, 'renters', 'of-demo');
    expect(told(await demo.get(`/renters/${renter}/report`))).toEqual([402, 285, null]);
    expect(told(await nopay.get(`/renters/${renter}/report`))).toEqual([404, 278, null]);
    await nopay.registered('renters', 'asked', { lastName: 'Otptest' });
    expect(told(await nopay.get('/renters/asked/report'))).toEqual([401, 9010, null]);
    await registered(broke, 'renters', 'poor');
    const reply = await broke.get('/renters/poor/report');
    expect([told(reply), reply.body.payload.reason]).toEqual([[402, 285, null], 'NO_CREDIT']);
  });

  it.each([
    ['Frozentest', 9132],
    ['Nohittest', 9193],
  ])('that the bureau refuses (%s) answers %i, for the report and for sharing', async (lastName, code) => {
    const renter = await registered(nopay, 'renters', lastName, { lastName });
    for (const reply of [
      await nopay.get(`/renters/${renter}/report`),
      await nopay.put(`/agents/agent/renters/${renter}`, UNIT),
    ]) {
      expect(told(reply)).toEqual([422, code, null]);
      expect(reply.body.payload).toMatchObject({ error: { code } });
    }
    expect(told(await nopay.get(`/agents/agent/renters/${renter}/report`))).toEqual([422, 9016, null]);
  });
});

describe.each([
  ['agents', 'agent'],
  ['organizations', 'office'],
])('a link to one of the %s', (kind, id) => {
  it('shows the report and the score until the link is revoked, and each step sends one webhook', async () => {
    const renter = await registered(nopay, 'renters', `linked-${kind}`);
    const path = `/${kind}/${id}/renters/${renter}`;
    const [shared, revoked] = [await eventsOf('report.shared'), await eventsOf('report.revoked')];
    expect((await nopay.get(`${path}/credit-score`)).body).toEqual({ payload: { creditScore: null }, errors: [] });
    expect(told(await nopay.get(`${path}/report`))).toEqual([422, 9016, null]);
    expect(told(await nopay.put(path, { unitAddress: '' }))).toEqual([400, 138, 'unitAddress']);
    const linking = await Promise.all([nopay.put(path, UNIT), nopay.put(`/renters/${renter}/${kind}/${id}`, UNIT)]);
    expect(linking.map(({ status, body }) => [status, body])).toEqual([
      [200, DONE],
      [200, DONE],
    ]);
    const { payload } = (await nopay.get(`${path}/report?format=json`)).body;
    expect(payload).toEqual((await nopay.get(`/renters/${renter}/report?format=json`)).body.payload);
    expect((await nopay.get(`/renters/${renter}/${kind}/${id}/credit-score`)).body.payload).toEqual({
      creditScore: payload.score.value,
    });
    const unlinking = await Promise.all([nopay.delete(path), nopay.delete(path)]);
    expect(unlinking.map(({ body }) => body)).toEqual([DONE, DONE]);
    expect(told(await nopay.get(`${path}/report`))).toEqual([422, 9016, null]);
    expect((await nopay.delete(path)).body).toEqual(DONE);
    await until('both webhooks are sent', async () => (await eventsOf('report.revoked')) === revoked + 1);
    expect(await eventsOf('report.shared')).toBe(shared + 1);
    expect((await nopay.put(path, UNIT)).body).toEqual(DONE);
    await until('the webhook of the new share is sent', async () => (await eventsOf('report.shared')) === shared + 2);
    expect(await eventsOf('report.revoked')).toBe(revoked + 1);
  });

  it('shows the older report when the renter registers again, until the link is made again', async () => {
    const renter = await registered(nopay, 'renters', `again-${kind}`);
    const path = `/${kind}/${id}/renters/${renter}`;
    const score = async (): Promise<unknown> => (await nopay.get(`${path}/credit-score`)).body.payload.creditScore;
    await nopay.put(path, UNIT);
    const older = await score();
    // The SSN decides the score. The credit file of this person is too thin for a score.
    await registered(nopay, 'renters', renter, { lastName: 'Thinfiletest' });
    expect(await score()).toBe(older);
    expect((await nopay.put(path, UNIT)).status).toBe(200);
    expect(await score()).toBeNull();
    expect((await nopay.get(`${path}/report?format=json`)).body.payload.score).toBeNull();
  });

  it('requires no payment by the renter, and answers 402/285 when the account has no credit', async () => {
    const renter = await registered(demo, 'renters', `unpaid-${kind}`);
    expect((await demo.put(`/${kind}/${id}/renters/${renter}`, UNIT)).body).toEqual(DONE);
    expect((await demo.get(`/${kind}/${id}/renters/${renter}`)).status).toBe(200);
    expect(told(await demo.get(`/renters/${renter}/report`))).toEqual([402, 285, null]);
    const poor = await registered(broke, 'renters', `poor-${kind}`);
    const reply = await broke.put(`/${kind}/${id}/renters/${poor}`, UNIT);
    expect([told(reply), reply.body.payload.reason]).toEqual([[402, 285, null], 'NO_CREDIT']);
  });

  it('answers 404 when either party belongs to another account, because a link cannot join parties of two accounts', async () => {
    await registered(nopay, 'renters', `own-${kind}`);
    await registered(demo, 'renters', `other-${kind}`);
    await registered(nopay, kind as 'agents', `${id}-of-nopay`);
    for (const [caller, path, status, code] of [
      [nopay, `/${kind}/${id}/renters/other-${kind}`, 404, 278],
      [demo, `/${kind}/${id}-of-nopay/renters/other-${kind}`, 404, 293],
    ] as const) {
      for (const reply of [await caller.put(path, UNIT), await caller.get(`${path}/report`), await caller.delete(path)])
        expect(told(reply)).toEqual([status, code, null]);
    }
  });
});

describe('the data that the service stores', () => {
  it('does not hold the unit for which a report was linked', async () => {
    const files = await readdir(service.dataDir, { recursive: true, withFileTypes: true });
    const contents = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
    );
    expect(contents.length).toBeGreaterThan(0);
    expect([service.program.output, ...contents].filter((text) => text.includes('Canary Wharf'))).toEqual([]);
  });
});
