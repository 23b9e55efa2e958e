// A service starts on data of an earlier version, replays it and verifies it. The first version that kept accounts,
// screenings, payments, reports, shares, webhooks, income and an erasure stored `test/fixtures/first-version`. The
// folder holds the data folder, the content of Redis, and the service's answers of that time. The stored keys open no
// other data.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { soon } from '../support/eventually.js';
import { type DemoAccount, type PlatformCaller, Service } from '../support/service.js';
import { unpack } from '../support/stored-data.js';

const STORED = 'test/fixtures/first-version';

interface Expected {
  readonly sessions: Readonly<
    Record<'verified' | 'paid' | 'blocked' | 'kba' | 'otpPending' | 'granted' | 'erased', string>
  >;
  readonly income: string;
  readonly statuses: Readonly<Record<string, object>>;
  readonly report: object;
  readonly audit: { readonly events: number; readonly streams: number };
  readonly timeline: readonly { readonly event: string; readonly stream?: string }[];
}

/** Copies the stored files of a folder into another folder. */
const from =
  (stored: string) =>
  (folder: string): Promise<void> =>
    unpack(join(STORED, stored), folder);

const lines = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe.each([
  ['with the stored content of Redis', { data: from('data'), redis: from('redis') }],
  ['with an empty Redis', { data: from('data') }],
])('data of an earlier version, %s', (_, stored) => {
  let service: Service;
  let expected: Expected;
  let accounts: Readonly<Record<string, DemoAccount>>;
  let nopay: PlatformCaller;
  let demo: PlatformCaller;

  beforeAll(async () => {
    expected = JSON.parse(await readFile(join(STORED, 'expected.json'), 'utf8'));
    service = await Service.start({ SEAL_INTERVAL: '1' }, { stored });
    accounts = (await service.credentials()).accounts;
    nopay = await service.signIn('nopay');
    demo = await service.signIn('demo');
  });
  afterAll(() => service?.stop());

  it('passes the audit', async () => {
    const { exitCode, stdout } = await service.ops('audit', 'verify');
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(lines(stdout).at(-1).events).toBeGreaterThanOrEqual(expected.audit.events);
  });

  it('is sealed, with a salt for each person of that time', async () => {
    await soon(async () => {
      const { stdout } = await service.ops('audit', 'verify');
      expect(lines(stdout)).toEqual([expect.objectContaining({ faults: 0, sealed: expect.any(Number) })]);
      expect(lines(stdout)[0].sealed).toBeGreaterThanOrEqual(expected.audit.events);
    });
  });

  it.each(['verified', 'paid', 'granted'] as const)('gives the status of the %s session', async (name) => {
    const caller = name === 'paid' ? demo : nopay;
    const { accountId } = accounts[name === 'paid' ? 'demo' : 'nopay'] as DemoAccount;
    if (name !== 'granted')
      expect((await caller.status(expected.sessions[name])).body).toMatchObject(expected.statuses[name] as object);
    const headers = {
      'x-secret-key': Object.values(accounts).find((account) => account.accountId === accountId)?.secretKey ?? '',
    };
    expect(
      (await service.request('GET', `/v1/screenings/${expected.sessions[name]}/status`, { headers })).body,
    ).toMatchObject({ overall_status: 'COMPLETED' });
  });

  it('shows the stored report to its owner and to the account with a share, but not to the account whose share was revoked', async () => {
    expect((await nopay.get(`/reports/${expected.sessions.verified}`)).body).toEqual(expected.report);
    expect((await (await service.signIn('unrelated')).get(`/reports/${expected.sessions.paid}`)).status).toBe(200);
    expect((await (await service.signIn('child')).get(`/reports/${expected.sessions.paid}`)).status).toBe(403);
    expect((await nopay.get(`/voie/sessions/${expected.income}/report`)).status).toBe(200);
  });

  it('answers 410 for an erased report', async () => {
    expect((await nopay.get(`/reports/${expected.sessions.erased}`)).status).toBe(410);
  });

  it('lists the events of a session in their order', async () => {
    const known = expected.timeline.map(({ event, stream }) => ({ event, stream }));
    const told = lines((await service.ops('timeline', expected.sessions.paid)).stdout).map(({ event, stream }) => ({
      event,
      stream,
    }));
    expect(told.filter(({ event }) => known.some((one) => one.event === event)).slice(0, known.length)).toEqual(known);
  });

  it('lists the stored views of a report, each in a stream of its own, and then the new views', async () => {
    const { paid } = expected.sessions;
    const looks = async (): Promise<string[]> =>
      lines((await service.ops('timeline', paid)).stdout)
        .filter(({ event }) => event === 'ReportViewed')
        .map(({ stream }) => stream);
    const before = await looks();
    expect(before.slice(0, 2)).toEqual(
      expected.timeline.filter(({ event }) => event === 'ReportViewed').map(({ stream }) => stream),
    );
    const unrelated = await service.signIn('unrelated');
    for (let look = 0; look < 2; look++) expect((await unrelated.get(`/reports/${paid}`)).status).toBe(200);
    expect(await looks()).toEqual([...before, `report_looks-${paid}`, `report_looks-${paid}`]);
  });

  it('accepts a new person', async () => {
    expect(await nopay.submit()).toMatchObject({ status: 200, body: { status: 'VERIFIED' } });
  });
});
