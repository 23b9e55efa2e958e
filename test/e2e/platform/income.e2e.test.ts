import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

let service: Service;
let demo: PlatformCaller;
let nopay: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  [demo, nopay] = await Promise.all([service.signIn('demo'), service.signIn('nopay')]);
});
afterAll(() => service.stop());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const refused = (reply: Reply): [number, string] => [reply.status, reply.body?.error?.code];

const open = (caller: PlatformCaller, body?: object, headers: Record<string, string> = {}): Promise<Reply> =>
  caller.post('/voie/sessions', body, headers);
const status = (caller: PlatformCaller, id: string): Promise<Reply> => caller.get(`/voie/sessions/${id}/status`);
const report = (caller: PlatformCaller, id: string): Promise<Reply> => caller.get(`/voie/sessions/${id}/report`);

async function verified(caller: PlatformCaller, lastName: string): Promise<string> {
  const { body } = await caller.submit({ lastName });
  expect(body.status).toBe('VERIFIED');
  return body.id;
}

/** Opens a session of a person with that name, and waits for its end. */
async function ended(
  caller: PlatformCaller,
  lastName: string,
  routes?: readonly string[],
): Promise<{ readonly screening: string; readonly body: any }> {
  const screening = await verified(caller, lastName);
  const opened = await open(caller, { screening_session_id: screening, ...(routes && { routes }) });
  expect(opened.status).toBe(200);
  const id: string = opened.body.income_session_id;
  await until(
    'the income session is over',
    async () => !['CREATED', 'IN_PROGRESS'].includes((await status(caller, id)).body.status),
  );
  return { screening, body: (await status(caller, id)).body };
}

describe('POST /voie/sessions', () => {
  it('answers 200 to a request without a body, with a session on the first route', async () => {
    const { status: code, body } = await open(demo);
    expect([code, body]).toEqual([
      200,
      {
        income_session_id: expect.stringMatching(UUID),
        status: expect.stringMatching(/^(CREATED|IN_PROGRESS)$/),
        route: 'PAYROLL',
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
      },
    ]);
  });

  it('answers 200 with the linked screening and the requested routes', async () => {
    const screening = await verified(demo, 'Example');
    const { body } = await open(demo, { screening_session_id: screening, routes: ['BANKING'], unknown_field: 1 });
    expect(body).toMatchObject({ screening_session_id: screening, route: 'BANKING' });
  });

  it.each([
    [[]],
    [['PAYROLL', 'PAYROLL']],
    [['payroll']],
    ['PAYROLL'],
    [{}],
    [[null]],
    [['PAYROLL', 'BANKING', 'PAYROLL']],
  ])('answers 400 VALIDATION_ERROR for the routes %j', async (routes) => {
    const reply = await open(demo, { routes });
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'routes']);
  });

  it.each([['[]'], ['"PAYROLL"'], ['{"routes":']])('answers 400 VALIDATION_ERROR for the body %s', async (body) => {
    expect(refused(await demo.post('/voie/sessions', body))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('answers 400 VALIDATION_ERROR and names the field when the screening is not verified, or its id is a number', async () => {
    const { body } = await demo.submit({ lastName: 'Otptest' });
    for (const screening_session_id of [body.id, 17]) {
      const reply = await open(demo, { screening_session_id });
      expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'screening_session_id']);
    }
  });

  it('answers the same 404 NOT_FOUND for an unknown or malformed screening and for one of another account', async () => {
    const replies = await Promise.all(
      [UNKNOWN, 'nonsense', await verified(nopay, 'Example')].map((screening_session_id) =>
        open(demo, { screening_session_id }),
      ),
    );
    expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND']));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });

  it('answers the same session for the same attempt of a screening; an earlier refusal of the attempt is not kept', async () => {
    const { body: pending } = await demo.submit({ lastName: 'Otptest' });
    const wish = { screening_session_id: pending.id, attempt: 1 };
    expect(refused(await open(demo, wish))).toEqual([400, 'VALIDATION_ERROR']);
    await demo.post(`/screening/${pending.id}/otp`, { code: '123456' });
    const { body: first } = await open(demo, wish);
    expect(first.income_session_id).toMatch(UUID);
    expect((await open(demo, wish)).body.income_session_id).toBe(first.income_session_id);
    expect((await open(demo, { ...wish, attempt: 2 })).body.income_session_id).not.toBe(first.income_session_id);
  });

  it.each([0, 101, 1.5, '1'])('answers 400 VALIDATION_ERROR for the attempt %j', async (attempt) => {
    const reply = await open(demo, { screening_session_id: UNKNOWN, attempt });
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'attempt']);
  });

  it('answers 400 VALIDATION_ERROR for an attempt without a screening', async () => {
    const reply = await open(demo, { attempt: 1 });
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'attempt']);
  });

  it('answers 401 AUTH_UNAUTHORIZED without a token', async () => {
    expect(refused(await service.request('POST', '/voie/sessions', { body: {} }))).toEqual([401, 'AUTH_UNAUTHORIZED']);
  });

  it('answers 409 ACCOUNT_NOT_PROVISIONED for live traffic outside production', async () => {
    const { livePublishableKey } = (await service.credentials()).accounts.demo;
    expect(refused(await open(await service.signIn('demo', livePublishableKey)))).toEqual([
      409,
      'ACCOUNT_NOT_PROVISIONED',
    ]);
  });

  it('opens one session for one idempotency key, and answers 409 when the body differs', async () => {
    const key = { 'idempotency-key': 'one-inquiry' };
    const first = await open(demo, { routes: ['BANKING'] }, key);
    const again = await open(demo, { routes: ['BANKING'] }, key);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true']);
    expect(refused(await open(demo, {}, key))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });
});

describe('an income session', () => {
  it('becomes COMPLETED by payroll, and then has a report', async () => {
    const { screening, body } = await ended(demo, 'Example');
    const id: string = body.income_session_id;
    expect(body).toEqual({
      income_session_id: id,
      status: 'COMPLETED',
      route: 'PAYROLL',
      screening_session_id: screening,
      report_url: `${service.baseUrl}/v1/income-sessions/${id}/report`,
      created_at: expect.stringMatching(TIME),
      updated_at: expect.stringMatching(TIME),
      completed_at: expect.stringMatching(TIME),
    });
    const { status: code, body: read, headers } = await report(demo, id);
    expect([code, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(Object.keys(read)).toEqual([
      'income_session_id',
      'route',
      'generated_at',
      'employers',
      'income',
      'paystubs',
    ]);
    expect(read).toMatchObject({
      income_session_id: id,
      route: 'PAYROLL',
      generated_at: expect.stringMatching(TIME),
      income: {
        annual_gross_cents: expect.any(Number),
        currency: 'usd',
        pay_frequency: expect.stringMatching(/^(WEEKLY|BIWEEKLY|SEMIMONTHLY|MONTHLY)$/),
      },
    });
    for (const employer of read.employers)
      expect(Object.keys(employer)).toEqual(['name', 'title', 'started_on', 'ended_on']);
    for (const paystub of read.paystubs) expect(Object.keys(paystub)).toEqual(['pay_date', 'gross_cents', 'net_cents']);
    expect((await report(demo, id)).text).toBe((await report(demo, id)).text);
  });

  it('falls back to banking for Nopayrolltest', async () => {
    const { body } = await ended(demo, 'Nopayrolltest');
    expect(body).toMatchObject({ status: 'COMPLETED', route: 'BANKING' });
    expect((await report(demo, body.income_session_id)).body.route).toBe('BANKING');
  });

  it('becomes FAILED with NO_MATCH for Nopayrolltest when payroll is the only route', async () => {
    expect((await ended(demo, 'Nopayrolltest', ['PAYROLL'])).body).toMatchObject({
      status: 'FAILED',
      route: 'PAYROLL',
      reason_code: 'NO_MATCH',
    });
  });

  it.each([
    ['Noincometest', 'NO_MATCH'],
    ['Incomeerrortest', 'VENDOR_ERROR'],
  ])('becomes FAILED for %s with %s on the last route, and has no report', async (lastName, reason) => {
    const { body } = await ended(demo, lastName);
    expect(body).toMatchObject({ status: 'FAILED', route: 'BANKING', reason_code: reason });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['report_url']));
    expect(refused(await report(demo, body.income_session_id))).toEqual([400, 'INCOME_REPORT_NOT_READY']);
  });

  it('stays IN_PROGRESS for Slowincometest: its report is 400 INCOME_REPORT_NOT_READY', async () => {
    const screening_session_id = await verified(demo, 'Slowincometest');
    const { income_session_id: id } = (await open(demo, { screening_session_id })).body;
    await until('it is in progress', async () => (await status(demo, id)).body.status === 'IN_PROGRESS');
    expect(refused(await report(demo, id))).toEqual([400, 'INCOME_REPORT_NOT_READY']);
  });
});

describe('GET /voie/sessions/{id}/status and /report', () => {
  it('answer the same 404 NOT_FOUND for unknown, malformed and foreign ids', async () => {
    const { body } = await open(nopay);
    expect((await status(nopay, body.income_session_id)).status).toBe(200);
    const { id: screening } = (await demo.submit(aPerson())).body;
    for (const read of [status, report]) {
      const replies = await Promise.all(
        [UNKNOWN, 'nonsense', body.income_session_id, screening].map((id) => read(demo, id)),
      );
      expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND']));
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    }
  });

  it('answer 404 NOT_FOUND to a parent, because its platform tokens reach only its own sessions', async () => {
    const { income_session_id: id } = (await open(await service.signIn('child'))).body;
    expect([refused(await status(demo, id)), refused(await report(demo, id))]).toEqual([
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
    ]);
  });

  it('answer 401 AUTH_UNAUTHORIZED without a token', async () => {
    for (const path of ['status', 'report'])
      expect(refused(await service.request('GET', `/voie/sessions/${UNKNOWN}/${path}`))).toEqual([
        401,
        'AUTH_UNAUTHORIZED',
      ]);
  });

  it('answer 404 NOT_FOUND for the report when the person has been erased', async () => {
    const { screening, body } = await ended(nopay, 'Example');
    expect((await report(nopay, body.income_session_id)).status).toBe(200);
    expect((await service.ops('person', 'erase', screening)).exitCode).toBe(0);
    expect(refused(await report(nopay, body.income_session_id))).toEqual([404, 'NOT_FOUND']);
    expect(refused(await open(nopay, { screening_session_id: screening }))).toEqual([404, 'NOT_FOUND']);
  });
});
