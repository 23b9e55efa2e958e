// POST /v1/test_helpers/events on the whole service (docs/contract/server.md#test-events).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_CATALOGUE } from '../../../src/published/events.js';
import { until } from '../../support/eventually.js';
import { type Credentials, type Reply, Service } from '../../support/service.js';

const ID = '0190a6d0-0000-7000-8000-000000000002';
let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

const trigger = (body: unknown, secretKey = accounts.unrelated.secretKey): Promise<Reply> =>
  service.request('POST', '/v1/test_helpers/events', { headers: { 'x-secret-key': secretKey }, body });
const feed = async (name: keyof Credentials['accounts'] = 'unrelated'): Promise<any> =>
  (await service.request('GET', '/v1/events', { headers: { 'x-secret-key': accounts[name].secretKey } })).body;

describe('POST /v1/test_helpers/events', () => {
  it('200: an event of every type is published, with sample data in the form of its type', async () => {
    const events: object[] = [];
    for (const type of Object.keys(EVENT_CATALOGUE)) {
      const { status, body } = await trigger({ type });
      expect([status, body]).toEqual([
        200,
        {
          id: expect.stringMatching(/^evt_/),
          type,
          schema_version: 1,
          occurred_at: expect.any(String),
          environment: 'test',
          account_id: accounts.unrelated.accountId,
          data: expect.any(Object),
        },
      ]);
      events.push(body);
    }
    await until('they are in the feed', async () => (await feed()).head.sequence >= events.length);
    expect((await feed()).data.map(({ event }: any) => event)).toEqual(events);
  });

  it('200: the fields of the caller are in the event, and the address of its report', async () => {
    const data = { session_id: ID, user_type: 'AGENT', transaction_id: 'txn_1' };
    expect((await trigger({ type: 'screening.completed', data })).body.data).toEqual(data);
    expect((await trigger({ type: 'screening.completed', data: { session_id: ID } })).body.data).toEqual({
      session_id: ID,
      user_type: 'CONSUMER',
      report_url: `${service.baseUrl}/v1/reports/${ID}`,
    });
  });

  it('200: the log names the event as a test event, and other accounts get nothing', async () => {
    const { body } = await trigger({ type: 'report.revoked' }, accounts.child.secretKey);
    await until('it is in the feed', async () =>
      (await feed('child')).data.some(({ event }: any) => event.id === body.id),
    );
    expect((await feed('demo')).data).toEqual([]);
    const { stdout } = await service.ops('stream', 'show', `feed-${accounts.child.accountId}-test`);
    expect(stdout).toMatch(/"sourceStream":\s*"test_event-/);
  });

  it.each([
    ['type', {}],
    ['type', { type: 'ping' }],
    ['data', { type: 'report.shared', data: [] }],
    ['data', { type: 'report.shared', data: 'x' }],
    ['data', { type: 'report.shared', data: { name: 'Robin' } }],
    ['data', { type: 'report.shared', data: { session_id: 'Robin' } }],
    ['data', { type: 'report.shared', data: { session_id: null } }],
    ['data', { type: 'report.shared', data: { shared_at: '2026-01-31' } }],
    ['data', { type: 'screening.completed', data: { user_type: 'RENTER' } }],
    ['data', { type: 'screening.completed', data: { transaction_id: 'Robin Otptest' } }],
    ['data', { type: 'screening.completed', data: { report_url: 'https://a.test/?name=Robin' } }],
    ['data', { type: 'screening.completed', data: { report_url: 'https://a.test/r/1' } }],
    ['data', { type: 'income_report.completed', data: { report_url: 'https://a.test/r/1' } }],
    ['data', { type: 'screening.blocked', data: { reason_code: 'born on 1 May' } }],
    ['data', { type: 'screening.step_up_required', data: { methods: ['FAX'] } }],
    ['data', { type: 'screening.step_up_required', data: { methods: 'OTP' } }],
    ['data', { type: 'payment.succeeded', data: { amount_cents: -1 } }],
    ['data', { type: 'payment.succeeded', data: { amount_cents: '3500' } }],
  ])('400 VALIDATION_ERROR with the field %s: %j', async (field, body) => {
    const { status, body: answer, text } = await trigger(body);
    expect([status, answer.error?.code, answer.error?.field]).toEqual([400, 'VALIDATION_ERROR', field]);
    expect(text).not.toContain('Robin');
  });

  it('400 VALIDATION_ERROR: the message says which field has which form', async () => {
    const { body } = await trigger({ type: 'report.shared', data: { session_id: 'Robin' } });
    expect(body.error.message).toBe('data must have session_id as a UUID in lowercase.');
    const { body: other } = await trigger({ type: 'report.unavailable', data: { name: 'Robin' } });
    expect(other.error.message).toBe('data may have only the fields session_id, reason_code.');
  });

  it('403 AUTH_FORBIDDEN: a live key publishes nothing', async () => {
    const { status, body } = await trigger({ type: 'report.shared' }, accounts.demo.liveSecretKey!);
    expect([status, body.error.code]).toEqual([403, 'AUTH_FORBIDDEN']);
  });

  it('401 AUTH_UNAUTHORIZED without a key', async () => {
    const body = { type: 'report.shared' };
    expect((await service.request('POST', '/v1/test_helpers/events', { body })).status).toBe(401);
  });
});
