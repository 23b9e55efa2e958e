// The double of acme, over HTTP.
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSandbox, type RunningSandbox } from '../../../../sandbox/server.js';
import { newId } from '../../../../src/kernel/ids.js';
import { AcmeDouble } from '../../../../src/vendors/acme/double/acme.js';

const SECRET = 'whsec_acme_double';
const HOUR = 3_600;

const PERSON = {
  kind: 'consumer',
  given_name: 'Ada',
  family_name: 'Example',
  birth_date: '1990-04-12',
  ssn: '666123456',
  phone: { number: '+14155550134', line: 'mobile' },
  address: { line1: '1 Main Street', city: 'San Francisco', region: 'CA', postal_code: '94105', country: 'US' },
};
const VERIFICATION = { workflow: 'tenant', person: PERSON, device: { payload: 'fingerprint' } };
const REPORT = { person: PERSON, permissible_purpose: 'tenant_screening', end_user: { reference: 'account-1' } };
const named = (family_name: string) => ({ ...VERIFICATION, person: { ...PERSON, family_name } });

interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

describe('the double of acme', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-double-'));
  const notices: { signature: string; text: string }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => {
      notices.push({ signature: String(request.headers['acme-signature']), text });
      response.writeHead(204).end();
    });
  });
  let time = Date.UTC(2026, 2, 1, 12);
  let double: AcmeDouble;
  let sandbox: RunningSandbox;
  let token: string;

  const start = async (): Promise<void> => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const client = { clientId: 'client', clientSecret: 'secret' };
    double = new AcmeDouble({ folder, ...client, notices: { url, secret: SECRET }, now: () => time });
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0, parts: [double] });
    token = (await form({ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' })).body
      .access_token;
  };
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    await start();
  });
  afterAll(async () => {
    await sandbox.close();
    receiver.close();
    rmSync(folder, { recursive: true });
  });

  const said = async (response: Response): Promise<Said> => {
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  const form = async (fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Said> =>
    said(await fetch(`${sandbox.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields), headers }));
  const get = async (path: string): Promise<Said> =>
    said(await fetch(`${sandbox.url}/v1${path}`, { headers: { authorization: `Bearer ${token}` } }));
  const post = async (path: string, body: object, key = newId(), more: Record<string, string> = {}): Promise<Said> =>
    said(
      await fetch(`${sandbox.url}/v1${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          ...more,
        },
        body: JSON.stringify(body),
      }),
    );
  const control = async (path: string, body?: object): Promise<any> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(
      `${sandbox.url}/control/${path}`,
      body && { method: 'POST', headers, body: JSON.stringify(body) },
    );
    expect(response.status).toBe(200);
    return response.json();
  };
  const begin = async (family_name: string): Promise<string> =>
    (await post('/verifications', named(family_name))).body.id as string;
  const stateOf = async (id: string): Promise<string> => (await get(`/verifications/${id}`)).body.state;

  describe('a token', () => {
    const BASIC = { authorization: `Basic ${Buffer.from('client:secret').toString('base64')}` };

    it('is issued for the secret in the header or in the form, and ends after five minutes', async () => {
      expect(await form({ grant_type: 'client_credentials', scope: 'reports' }, BASIC)).toMatchObject({
        status: 200,
        body: { token_type: 'Bearer', expires_in: 300 },
      });
      const id = await begin('Example');
      time += 300_000;
      expect(await get(`/verifications/${id}`)).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
      token = (await form({ grant_type: 'client_credentials' }, BASIC)).body.access_token;
      expect(await stateOf(id)).toBe('approved');
    });

    it.each([
      [
        'a wrong secret',
        { grant_type: 'client_credentials', client_id: 'client', client_secret: 'other' },
        'invalid_client',
      ],
      [
        'another grant',
        { grant_type: 'password', client_id: 'client', client_secret: 'secret' },
        'unsupported_grant_type',
      ],
      [
        'an unknown scope',
        { grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret', scope: 'all' },
        'invalid_scope',
      ],
      [
        'an unknown parameter',
        { grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret', x: '1' },
        'invalid_request',
      ],
    ])('is refused for %s', async (_what, fields, error) => {
      expect((await form(fields)).body).toEqual({ error });
    });

    it('is refused for a JSON body', async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' });
      const response = await fetch(`${sandbox.url}/oauth/token`, { method: 'POST', headers, body });
      expect(await response.json()).toEqual({ error: 'invalid_request' });
    });
  });

  describe('a verification', () => {
    it('is accepted with an address, which tells the result', async () => {
      const accepted = await post('/verifications', VERIFICATION);
      expect([accepted.status, accepted.body.state, accepted.headers.get('retry-after')]).toEqual([
        202,
        'processing',
        '1',
      ]);
      expect(accepted.headers.get('location')).toBe(`/v1/verifications/${accepted.body.id}`);
      expect((await get(`/verifications/${accepted.body.id}`)).body).toMatchObject({
        state: 'approved',
        score: { value: 912 },
      });
    });

    it('is in progress, with a pause, until the clock has passed', async () => {
      const id = await begin('Slowtest');
      const first = await get(`/verifications/${id}`);
      expect([first.body, first.headers.get('retry-after')]).toEqual([{ id, state: 'processing' }, '1']);
      time += 2_000;
      expect(await stateOf(id)).toBe('approved');
    });

    it.each([
      ['Notfound', { state: 'declined', reasons: ['identity_not_found'] }],
      ['Addresstest', { state: 'failed', problem: { code: 'address_unknown', pointer: '/person/address/line1' } }],
      ['Choicetest', { state: 'challenge', challenge: { methods: ['one_time_code', 'questions'] } }],
    ])('of %s ends as the persona says', async (name, body) => {
      expect((await get(`/verifications/${await begin(name)}`)).body).toMatchObject(body);
    });

    it.each([
      ['ssn', '12345678', 'invalid_ssn'],
      ['ssn', undefined, 'ssn_required'],
      ['given_name', '7', 'invalid_given_name'],
      ['birth_date', '1990-02-30', 'invalid_birth_date'],
      ['birth_date', '04121990', 'invalid_birth_date'],
      ['email', 'nothing', 'invalid_email'],
    ])('with a wrong %s is refused, with a pointer', async (field, value, code) => {
      const refused = await post('/verifications', { ...VERIFICATION, person: { ...PERSON, [field]: value } });
      expect(refused.headers.get('content-type')).toMatch('application/problem+json');
      expect(refused).toMatchObject({ status: 422, body: { code, pointer: `/person/${field}` } });
    });

    it.each([
      ['an unknown field', { ...VERIFICATION, note: 'x' }, '/note'],
      ['an unknown field of the person', { ...VERIFICATION, person: { ...PERSON, dob: 'x' } }, '/person/dob'],
      ['a missing field', { person: PERSON, device: { payload: 'x' } }, '/workflow'],
      ['another type', { ...VERIFICATION, workflow: 7 }, '/workflow'],
    ])('with %s is malformed', async (_what, body, pointer) => {
      expect(await post('/verifications', body)).toMatchObject({
        status: 400,
        body: { code: 'malformed_request', pointer },
      });
    });

    it('with an unknown header, or without a key, is refused', async () => {
      expect((await post('/verifications', VERIFICATION, newId(), { 'x-tenant': '1' })).body.code).toBe(
        'unknown_header',
      );
      expect((await post('/verifications', VERIFICATION, 'short')).body.code).toBe('idempotency_key_missing');
    });

    it('is billed once for a key, whose outcome can be asked', async () => {
      const key = newId();
      expect((await get(`/requests/${key}`)).body.code).toBe('key_unknown');
      const billed = async (): Promise<number> => (await control('calls')).operations.verification.billed;
      const before = await billed();
      const first = await post('/verifications', VERIFICATION, key);
      const second = await post('/verifications', VERIFICATION, key);
      expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
      expect(await billed()).toBe(before + 1);
      expect(await post('/verifications', named('Other'), key)).toMatchObject({
        status: 409,
        body: { code: 'idempotency_key_reused' },
      });
      expect((await get(`/requests/${key}`)).body).toEqual({
        operation: 'verification',
        answer: { status: 202, body: first.body },
      });
    });

    it('is understood in the words of the applicant', async () => {
      const key = newId();
      await post('/verifications', VERIFICATION, key);
      expect(double.understood(key)).toEqual({
        userType: 'CONSUMER',
        firstName: 'Ada',
        lastName: 'Example',
        dateOfBirth: '04121990',
        ssn: '666123456',
        phoneNumber: '4155550134',
        phoneType: 'C',
        address: { street: '1 Main Street', city: 'San Francisco', state: 'CA', zip: '94105' },
        jscPayload: 'fingerprint',
      });
    });

    it('goes on when the double starts again', async () => {
      const id = await begin('Otptest');
      await sandbox.close();
      await start();
      expect(await stateOf(id)).toBe('challenge');
    });
  });

  describe('a challenge', () => {
    it('is passed with the right code', async () => {
      const id = await begin('Otptest');
      expect(await post(`/verifications/${id}/code`, { code: '000000' })).toMatchObject({
        status: 422,
        body: { code: 'code_incorrect', attempts_left: 2 },
      });
      expect((await post(`/verifications/${id}/code/resend`, {})).body).toEqual({ sent: true });
      expect((await post(`/verifications/${id}/code`, { code: '123456' })).body.state).toBe('approved');
      expect(await post(`/verifications/${id}/code`, { code: '123456' })).toMatchObject({
        status: 410,
        body: { code: 'verification_closed' },
      });
    });

    it('is passed with the right options of the questions, and takes keys of its own only', async () => {
      const id = await begin('Kbatest');
      const { questions } = (await get(`/verifications/${id}`)).body.challenge;
      expect(questions[0].options[0]).toEqual({ key: 'street.a', text: 'Alder Street' });
      const wrong = { street: 'street.b', lender: 'lender.b', county: 'county.c' };
      expect((await post(`/verifications/${id}/answers`, { answers: wrong })).body.code).toBe('answers_incorrect');
      for (const answers of [{ street: 'street.a' }, { ...wrong, street: 'lender.b' }])
        expect((await post(`/verifications/${id}/answers`, { answers })).body.code).toBe('malformed_request');
      const right = { ...wrong, street: 'street.a' };
      expect((await post(`/verifications/${id}/answers`, { answers: right })).body.state).toBe('approved');
      expect((await post(`/verifications/${await begin('Kbatest')}/code`, { code: '1' })).body.code).toBe(
        'method_not_offered',
      );
    });

    it('is locked for a day after three wrong answers, and has then ended', async () => {
      const id = await begin('Otptest');
      const guess = async (): Promise<Said> => post(`/verifications/${id}/code`, { code: '000000' });
      await guess();
      await guess();
      const unlocks_at = new Date(time + 24 * HOUR * 1_000).toISOString();
      const locked = { status: 423, body: { code: 'verification_locked', unlocks_at } };
      expect([await guess(), await guess()]).toMatchObject([locked, locked]);
      await control('clock', { seconds: 24 * HOUR });
      token = (await form({ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' })).body
        .access_token;
      expect((await guess()).body.code).toBe('verification_closed');
    });
  });

  describe('a manual review', () => {
    const noticesOf = (id: string) => notices.filter(({ text }) => JSON.parse(text).verification === id);

    it('is decided by a person, and told with a signed notice', async () => {
      const id = await begin('Reviewtest');
      expect(await stateOf(id)).toBe('manual_review');
      expect(await control(`verifications/${id}/decision`, { decision: 'declined' })).toEqual({ notice: 204 });
      expect(await stateOf(id)).toBe('declined');
      const [told] = noticesOf(id);
      const [, timestamp = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(told?.signature ?? '') ?? [];
      const expected = createHmac('sha256', SECRET).update(`${timestamp}.${told?.text ?? ''}`);
      expect(signature).toBe(expected.digest('hex'));
      await control(`verifications/${id}/notice`, {});
      expect(noticesOf(id).map(({ text }) => text)).toEqual([told?.text, told?.text]);
    });

    it('is decided after two days', async () => {
      const id = await begin('Reviewtest');
      await control('clock', { seconds: 48 * HOUR });
      expect(noticesOf(id)).toHaveLength(1);
      token = (await form({ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' })).body
        .access_token;
      expect(await stateOf(id)).toBe('approved');
    });
  });

  describe('a report', () => {
    it('is the same for the same person and key', async () => {
      const key = newId();
      const order = async (): Promise<string> => {
        const accepted = await post('/reports', REPORT, key);
        expect([accepted.status, accepted.headers.get('location')]).toEqual([202, `/v1/reports/${accepted.body.id}`]);
        return accepted.body.id;
      };
      const [first, second] = [await order(), await order()];
      const report = (await get(`/reports/${first}`)).body;
      expect(report).toMatchObject({
        state: 'ready',
        score: { model: 'Acme Rent Score 4' },
        consumer: { display_name: 'Ada Example', birth_year: 1990, ssn_tail: '3456' },
      });
      expect((await get(`/reports/${second}`)).body).toEqual(report);
      expect(double.understood(key)).toMatchObject({
        ssn: '666123456',
        purpose: 'tenant_screening',
        endUser: 'account-1',
      });
    });

    it.each([
      ['Frozentest', { state: 'not_available', reason: 'frozen' }],
      ['Nohittest', { state: 'not_available', reason: 'no_file' }],
      ['Thinfiletest', { state: 'ready', score: null, tradelines: [] }],
    ])('shows the file of %s', async (family_name, body) => {
      const { id } = (await post('/reports', { ...REPORT, person: { ...PERSON, family_name } })).body;
      expect((await get(`/reports/${id}`)).body).toMatchObject(body);
    });

    it('needs a permissible purpose and an end user', async () => {
      const { end_user: _none, ...without } = REPORT;
      expect((await post('/reports', without)).body).toMatchObject({ code: 'malformed_request', pointer: '/end_user' });
      const curious = { ...REPORT, permissible_purpose: 'curiosity' };
      expect((await post('/reports', curious)).body.pointer).toBe('/permissible_purpose');
    });
  });

  it('answers 429 with the pause while a test limits the rate, even to a request for a token', async () => {
    await control('trouble', { status: 429, seconds: 60, retryAfter: 7 });
    const refused = await post('/verifications', VERIFICATION);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '7']);
    expect((await form({ grant_type: 'client_credentials' })).status).toBe(429);
    time += 60_000;
    expect((await post('/verifications', VERIFICATION)).status).toBe(202);
  });

  it('answers in its own dialect to unknown paths and to text that is not JSON', async () => {
    expect(await get('/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': newId(),
    };
    const response = await fetch(`${sandbox.url}/v1/verifications`, { method: 'POST', headers, body: '{' });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, 'malformed_request']);
  });
});
