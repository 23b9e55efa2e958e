// Data that an earlier version wrote still starts, replays and verifies. `test/fixtures/first-version` was stored by the first version
// that kept accounts, screenings, payments, reports, shares, webhooks, income and an erasure: the data folder, what Redis held, and what
// the service said about it then. Its keys open nothing else.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

/** Puts the stored files of a folder into another one. */
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
  ['with what Redis held', { data: from('data'), redis: from('redis') }],
  ['with an empty Redis', { data: from('data') }],
])('data of an earlier version, %s', (_, stored) => {
  let service: Service;
  let expected: Expected;
  let accounts: Readonly<Record<string, DemoAccount>>;
  let nopay: PlatformCaller;
  let demo: PlatformCaller;

  beforeAll(async () => {
    expected = JSON.parse(await readFile(join(STORED, 'expected.json'), 'utf8'));
    service = await Service.start({}, { stored });
    accounts = (await service.credentials()).accounts;
    nopay = await service.signIn('nopay');
    demo = await service.signIn('demo');
  });
  afterAll(() => service?.stop());

  it('verifies', async () => {
    const { exitCode, stdout } = await service.ops('audit', 'verify');
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(lines(stdout).at(-1).events).toBeGreaterThanOrEqual(expected.audit.events);
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

  it('opens the report that it kept, also for the account it was shared with, and no longer for the one it was taken from', async () => {
    expect((await nopay.get(`/reports/${expected.sessions.verified}`)).body).toEqual(expected.report);
    expect((await (await service.signIn('unrelated')).get(`/reports/${expected.sessions.paid}`)).status).toBe(200);
    expect((await (await service.signIn('child')).get(`/reports/${expected.sessions.paid}`)).status).toBe(403);
    expect((await nopay.get(`/voie/sessions/${expected.income}/report`)).status).toBe(200);
  });

  it('does not open what was erased', async () => {
    expect((await nopay.get(`/reports/${expected.sessions.erased}`)).status).toBe(410);
  });

  it('tells what happened in the order in which it did', async () => {
    const known = expected.timeline.map(({ event, stream }) => ({ event, stream }));
    const told = lines((await service.ops('timeline', expected.sessions.paid)).stdout).map(({ event, stream }) => ({
      event,
      stream,
    }));
    expect(told.filter(({ event }) => known.some((one) => one.event === event)).slice(0, known.length)).toEqual(known);
  });

  it('tells of the looks that were recorded then, each in a stream of its own, and of those since', async () => {
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

  it('goes on: a new person is screened on it', async () => {
    expect(await nopay.submit()).toMatchObject({ status: 200, body: { status: 'VERIFIED' } });
  });
});
