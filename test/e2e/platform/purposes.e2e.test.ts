// An account that must certify its purposes reads a report only under a certified purpose (docs/contract/general.md#purposes), on every API.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

let service: Service;
let account: Credentials['accounts']['nopay'];
let page: PlatformCaller;

const NAMED = { purpose: 'LEASE_RENEWAL', endUserType: 'PROPERTY_MANAGEMENT' };
const GRANTED = { purpose: NAMED.purpose, end_user_type: NAMED.endUserType };
const QUERY = new URLSearchParams(NAMED).toString();
const REFUSED = { status: 409, body: { error: { code: 'PURPOSE_NOT_CERTIFIED', field: 'purpose' } } };

beforeAll(async () => {
  service = await Service.shared('plain');
  account = (await service.credentials()).accounts.nopay;
  page = await service.signIn('nopay');
});
afterAll(() => service?.stop());

async function ops(...args: string[]): Promise<void> {
  const { exitCode, stdout } = await service.ops(...args);
  if (exitCode !== 0) throw new Error(`ops ${args.join(' ')}: ${stdout}`);
}

async function certified(until: string): Promise<void> {
  const text = join(service.dataDir, 'certified.txt');
  await writeFile(text, 'We read reports only for renewals of leases.\n');
  const terms = ['--purposes', NAMED.purpose, '--end-users', NAMED.endUserType, '--text', text, '--by', 'user_17'];
  await ops('accounts', 'certify', account.accountId, ...terms, '--until', until);
}

const onServer = (method: string, path: string, body?: unknown): Promise<Reply> =>
  service.request(method, path, { headers: { 'x-secret-key': account.secretKey }, body });

/** The service may know the account as it was a second ago. */
const known = (status: number): Promise<void> =>
  until('the service knows the change', async () => {
    const granted = await onServer('POST', '/v1/sessions', { ...GRANTED });
    return granted.status === status;
  });

async function purposesOf(sessionId: string): Promise<unknown[]> {
  const { stdout } = await service.ops('timeline', sessionId);
  const events = stdout.split('\n').filter((line) => line.includes('"ReportViewed"'));
  return events.map((line) => {
    const { data } = JSON.parse(line);
    return { purpose: data.purpose, endUserType: data.endUserType };
  });
}

describe('an account that must certify its purposes', () => {
  it('409: cannot read, share or link a report, read a score or an income report, before it has certified a purpose', async () => {
    const direct = await DirectCaller.of(service);
    const { id } = (await page.submit(NAMED)).body;
    const income = (await page.post('/voie/sessions', { screening_session_id: id })).body.income_session_id;
    await until('the income report is ready', async () => {
      return (await page.get(`/voie/sessions/${income}/status`)).body.status === 'COMPLETED';
    });
    await direct.registered('renters', 'renter-1');
    await direct.registered('agents', 'agent-1');
    await ops('accounts', 'set', account.accountId, '--require-purpose', 'yes');
    await known(409);

    expect(await page.get(`/reports/${id}`)).toMatchObject(REFUSED);
    expect(await page.post(`/reports/${id}/consent-to-share`)).toMatchObject(REFUSED);
    expect(await onServer('GET', `/v1/reports/${id}`)).toMatchObject(REFUSED);
    expect(await page.get(`/voie/sessions/${income}/report`)).toMatchObject(REFUSED);
    expect(await onServer('GET', `/v1/income-sessions/${income}/report`)).toMatchObject(REFUSED);
    expect(await onServer('POST', '/v1/sessions', { purpose: NAMED.purpose })).toMatchObject(REFUSED);
    expect(await page.submit(NAMED)).toMatchObject(REFUSED);
    const refused = { status: 409, body: { payload: null, errors: [{ errorCode: 121, errorOnField: 'purpose' }] } };
    expect(await direct.get('/renters/renter-1/report')).toMatchObject(refused);
    expect(await direct.put('/agents/agent-1/renters/renter-1', { unitAddress: '12 Elm Street' })).toMatchObject(
      refused,
    );

    await certified('2099-01-01T00:00:00Z');
    await known(200);
    expect((await page.get(`/reports/${id}`)).status).toBe(200);
    expect((await onServer('GET', `/v1/reports/${id}`)).status).toBe(200);
    expect((await page.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
    expect((await page.get(`/voie/sessions/${income}/report`)).status).toBe(200);
    expect(await purposesOf(id)).toEqual([NAMED, NAMED]);
    // The integrator's server names the purpose of each read.
    expect(await direct.get('/renters/renter-1/report')).toMatchObject(refused);
    expect((await direct.get(`/renters/renter-1/report?${QUERY}`)).status).toBe(200);
    const link = await direct.put(`/agents/agent-1/renters/renter-1?${QUERY}`, { unitAddress: '12 Elm Street' });
    expect(link.status).toBe(200);
    expect(await direct.get('/agents/agent-1/renters/renter-1/report')).toMatchObject(refused);
    expect(await direct.get('/agents/agent-1/renters/renter-1/credit-score')).toMatchObject(refused);
    expect((await direct.get(`/agents/agent-1/renters/renter-1/credit-score?${QUERY}`)).status).toBe(200);
  });

  it('409: reads a session without a purpose only if the request names one that is certified', async () => {
    const { id } = (await page.submit()).body;
    expect(await page.get(`/reports/${id}`)).toMatchObject(REFUSED);
    expect(await page.get(`/reports/${id}?purpose=TENANT_SCREENING`)).toMatchObject(REFUSED);
    expect((await page.get(`/reports/${id}?${QUERY}`)).status).toBe(200);
    expect(await onServer('GET', `/v1/reports/${id}?purpose=CURIOSITY`)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', field: 'purpose' } },
    });
    const underGrant = await service.signInUnderGrant('nopay', GRANTED);
    expect(await underGrant.submit({ purpose: 'TENANT_SCREENING' })).toMatchObject({
      status: 400,
      body: { error: { field: 'purpose' } },
    });
    const granted = (await underGrant.submit()).body.id;
    expect((await underGrant.get(`/reports/${granted}`)).status).toBe(200);
    expect(await purposesOf(granted)).toEqual([NAMED]);
  });
});
