// The sandbox income vendor over HTTP: which requests it refuses, how long inquiries take, its controls and what it
// remembers.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { SandboxIncomeVendor } from '../../../src/vendors/voie/double/income-vendor.js';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.js';

const CREDENTIAL = 'test-credential';
const PEOPLE: Readonly<Record<string, { persona: string; file: number }>> = {
  vs_smith: { persona: 'ordinary', file: 17 },
  vs_slow: { persona: 'slowincometest', file: 18 },
};

interface Reply {
  readonly status: number;
  readonly body: any;
}

let folder: string;
let now: number;
let sandbox: RunningSandbox;
const running: RunningSandbox[] = [];

beforeEach(async () => {
  now = Date.parse('2026-01-02T03:04:05.678Z');
  folder = mkdtempSync(join(tmpdir(), 'income-sandbox-'));
  sandbox = await start(join(folder, 'sandbox'));
});

afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
  rmSync(folder, { recursive: true });
});

async function start(where: string): Promise<RunningSandbox> {
  const vendor = new SandboxIncomeVendor({
    folder: where,
    credential: CREDENTIAL,
    personOf: (token) => PEOPLE[token] ?? null,
    now: () => now,
  });
  const started = await startSandbox({ host: '127.0.0.1', port: 0, parts: [vendor] });
  running.push(started);
  return started;
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  at = sandbox,
): Promise<Reply> {
  const response = await fetch(at.url + path, {
    method,
    headers: {
      authorization: `Bearer ${CREDENTIAL}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const inquire = (body: unknown, key = newId(), at = sandbox): Promise<Reply> =>
  ask('POST', '/income/v1/inquiries', body, { 'idempotency-key': key }, at);
const told = async (id: string, at = sandbox): Promise<any> =>
  (await ask('GET', `/income/v1/inquiries/${id}`, undefined, {}, at)).body;
const started = async (session?: string, route = 'PAYROLL'): Promise<string> =>
  (await inquire({ route, ...(session && { identitySession: session }) })).body.inquiryId;

describe('strictness of the sandbox', () => {
  it.each<[string, object, string]>([
    ['no route', {}, 'route'],
    ['another route', { route: 'payroll' }, 'route'],
    ['an unknown field', { route: 'PAYROLL', more: 1 }, 'more'],
    ['null for a session', { route: 'PAYROLL', identitySession: null }, 'identitySession'],
  ])('400/708 names the field: %s', async (_name, body, field) => {
    expect(await inquire(body)).toMatchObject({ status: 400, body: { error: { code: 708, field } } });
  });

  it('requires the credential, and a key for a start', async () => {
    const wrong = { authorization: 'Bearer wrong', 'idempotency-key': newId() };
    expect((await ask('POST', '/income/v1/inquiries', { route: 'PAYROLL' }, wrong)).status).toBe(401);
    expect((await ask('GET', `/income/v1/inquiries/${await started()}`, undefined, wrong)).status).toBe(401);
    expect((await ask('POST', '/income/v1/inquiries', { route: 'PAYROLL' })).body.error.code).toBe(
      'idempotency_key_required',
    );
  });

  it('404: an unknown inquiry and an unknown path', async () => {
    expect(await ask('GET', '/income/v1/inquiries/inq_1')).toMatchObject({
      status: 404,
      body: { error: { code: 'inquiry_unknown' } },
    });
    expect(await ask('GET', '/income/v1/inquiries')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });
});

describe('an inquiry', () => {
  it('is in progress for one second, then completed, and its dates count back from its beginning', async () => {
    const id = await started('vs_smith');
    now += 999;
    expect(await told(id)).toEqual({ inquiryId: id, route: 'PAYROLL', status: 'in-progress' });
    now += 1;
    const over = await told(id);
    expect(over).toMatchObject({
      inquiryId: id,
      route: 'PAYROLL',
      status: 'completed',
      report: { income: { currency: 'usd' } },
    });
    expect(
      over.report.paystubs.every(
        ({ payDate }: { payDate: string }) => payDate < '2026-01-02' && payDate > '2025-06-01',
      ),
    ).toBe(true);
    now += 86_400_000;
    expect(await told(id)).toEqual(over);
  });

  it('takes the time that was configured when the inquiry began', async () => {
    const before = await started();
    expect((await ask('POST', '/control/income/pace', { milliseconds: 5_000 })).body).toEqual({ milliseconds: 5_000 });
    const after = await started();
    now += 1_000;
    expect([(await told(before)).status, (await told(after)).status]).toEqual(['completed', 'in-progress']);
    now += 4_000;
    expect((await told(after)).status).toBe('completed');
  });
});

describe('the controls of the sandbox', () => {
  it('list the inquiries, decide an inquiry, and do not change a decided one', async () => {
    const [slow, done] = [await started('vs_slow', 'BANKING'), await started()];
    now += 1_000;
    expect((await ask('GET', '/control/income/inquiries')).body).toEqual({
      inquiries: [
        { inquiryId: slow, route: 'BANKING', status: 'in-progress' },
        { inquiryId: done, route: 'PAYROLL', status: 'completed' },
      ],
    });
    const decide = (id: string, ending: string): Promise<Reply> =>
      ask('POST', `/control/income/inquiries/${id}`, { ending });
    expect(await decide(slow, 'NO_MATCH')).toEqual({
      status: 200,
      body: { inquiryId: slow, route: 'BANKING', status: 'failed', reason: 'NO_MATCH' },
    });
    expect(await told(slow)).toEqual({ inquiryId: slow, route: 'BANKING', status: 'failed', reason: 'NO_MATCH' });
    expect((await decide(slow, 'completed')).status).toBe(409);
    expect((await decide(done, 'NO_MATCH')).status).toBe(409);
    expect((await decide('inq_1', 'NO_MATCH')).status).toBe(404);
    expect((await decide(slow, 'maybe')).status).toBe(400);
  });

  it('count calls, stop the vendor and lose answers', async () => {
    const key = newId();
    await ask('POST', '/control/income/outage', { seconds: 60 });
    expect((await inquire({ route: 'PAYROLL' }, key)).status).toBe(503);
    await ask('POST', '/control/income/outage', { seconds: 0 });
    await ask('POST', '/control/income/lost-answers', { calls: 1 });
    await expect(inquire({ route: 'PAYROLL' }, key)).rejects.toThrow();
    expect((await inquire({ route: 'PAYROLL' }, key)).status).toBe(200);
    expect((await inquire({ route: 'BANKING' }, key)).body.error.code).toBe('idempotency_key_reused');
    expect((await ask('GET', `/control/income/calls?key=${key}`)).body).toEqual({
      key,
      received: 4,
      executed: 1,
      billed: 1,
    });
    expect((await ask('GET', '/control/income/calls')).body).toEqual({
      operations: { inquiry: { received: 4, executed: 1, billed: 1 } },
      receivedTwice: [],
      executedTwice: [],
    });
  });
});

describe('the memory of the sandbox', () => {
  it('survives a kill of the process, and has no token of a person', async () => {
    const keys = { smith: newId() };
    const smith = (await inquire({ route: 'PAYROLL', identitySession: 'vs_smith' }, keys.smith)).body.inquiryId;
    const slow = await started('vs_slow');
    await ask('POST', `/control/income/inquiries/${slow}`, { ending: 'VENDOR_ERROR' });
    now += 1_000;
    const before = await told(smith);
    const left = mkdtempSync(join(folder, 'left-'));
    cpSync(join(folder, 'sandbox'), left, { recursive: true });
    const again = await start(left);
    expect(await told(smith, again)).toEqual(before);
    expect(await told(slow, again)).toMatchObject({ status: 'failed', reason: 'VENDOR_ERROR' });
    expect((await inquire({ route: 'PAYROLL', identitySession: 'vs_smith' }, keys.smith, again)).body).toEqual({
      inquiryId: smith,
    });
    expect(readFileSync(join(left, 'income-vendor.jsonl'), 'utf8')).not.toContain('vs_s');
  });
});
