// `Idempotency-Key` on the platform API (docs/contract/general.md#idempotency-keys). test/unit/http/idempotency.int.test.ts covers the
// details.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, PlatformCaller, type Reply, Service } from '../../support/service.js';

let service: Service;
let demo: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  demo = await service.signIn('demo');
});
afterAll(() => service.stop());

const keyed = (key: string = randomUUID()): Record<string, string> => ({ 'idempotency-key': key });
const isReplay = (reply: Reply): boolean => reply.headers.get('idempotent-replayed') === 'true';
const code = (reply: Reply): string => reply.body?.error?.code;
const renewed = async ({ headers }: PlatformCaller): Promise<PlatformCaller> => {
  const { publishableKey } = (await service.credentials()).accounts.demo;
  const reply = await service.request('POST', '/auth/token/exchange', {
    headers: { ...headers, 'x-publishable-key': publishableKey },
  });
  return new PlatformCaller(service, { ...headers, authorization: `Bearer ${reply.body.token}` });
};
const registrations = async (): Promise<number> =>
  (
    (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
      operations: { registration?: { received: number } };
    }
  ).operations.registration?.received ?? 0;

describe('POST /screening/submit with an Idempotency-Key', () => {
  it('200: another person gets a new session under a key whose record is gone', async () => {
    const headers = keyed();
    const first = await demo.post('/screening/submit', aPerson({ lastName: 'Example' }), headers);
    const redis = service.redis.client();
    for (const record of await redis.keys('idempotency:*')) await redis.del(record);
    const other = await demo.post('/screening/submit', aPerson({ lastName: 'Otptest' }), headers);
    expect([first.body.status, other.body.status, other.body.id === first.body.id]).toEqual([
      'VERIFIED',
      'STEP_UP_REQUIRED',
      false,
    ]);
  });

  it('200: repeats the first reply with its headers, and calls the vendor once', async () => {
    const headers = keyed();
    const person = aPerson({ lastName: 'Kbatest' });
    const before = await registrations();
    const first = await demo.post('/screening/submit', person, headers);
    expect([first.status, isReplay(first), first.body.stepUp.kbaQuestions.length]).toEqual([200, false, 4]);
    expect(first.body.id[14]).toBe('7');
    const again = await demo.post('/screening/submit', person, headers);
    expect([again.status, isReplay(again), again.text]).toEqual([200, true, first.text]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('access-control-expose-headers')).toContain('Idempotent-Replayed');
    expect(await registrations()).toBe(before + 1);
  });

  it.each([true, false])(
    '200: repeats the reply under a renewed token, but not to another visitor of the account (under a grant: %s)',
    async (granted) => {
      const visitor = (): Promise<PlatformCaller> =>
        granted ? service.signInUnderGrant('demo') : service.signIn('demo');
      const [one, other] = [await visitor(), await visitor()];
      const headers = keyed('simple');
      const person = aPerson();
      const first = await one.post('/screening/submit', person, headers);
      const again = await (await renewed(one)).post('/screening/submit', person, headers);
      expect([isReplay(again), again.text]).toEqual([true, first.text]);
      const others = await other.post('/screening/submit', person, headers);
      expect([isReplay(others), others.body.id === first.body.id]).toEqual([false, false]);
    },
  );

  it('200: two visitors who send the same key and body open two income sessions', async () => {
    const [one, other] = [await service.signIn('demo'), await service.signIn('demo')];
    const headers = keyed('income-1');
    const first = await one.post('/voie/sessions', {}, headers);
    const second = await other.post('/voie/sessions', {}, headers);
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, false]);
    expect(second.text).not.toBe(first.text);
    const again = await one.post('/voie/sessions', {}, headers);
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
  });

  it('400: replies to many empty bodies of one visitor are not kept, so that other replies of this and other visitors are still kept', async () => {
    const [stranger, visitor] = [await service.signIn('unrelated'), await service.signIn('unrelated')];
    for (let count = 0; count < 250; count++)
      expect((await stranger.post('/screening/submit', {}, keyed())).status).toBe(400);
    expect(await service.redis.client().keys('idempotency-keys:*')).not.toContainEqual(
      expect.stringContaining((await service.credentials()).accounts.unrelated.accountId),
    );
    for (const caller of [visitor, stranger]) {
      const [headers, person] = [keyed(), aPerson()];
      const first = await caller.post('/screening/submit', person, headers);
      expect([first.status, first.headers.get('idempotency-kept')]).toEqual([200, null]);
      expect(isReplay(await caller.post('/screening/submit', person, headers))).toBe(true);
    }
  });

  it('200: a request of another account with the same key is another request', async () => {
    const headers = keyed();
    const person = aPerson();
    const first = await demo.post('/screening/submit', person, headers);
    const other = await (await service.signIn('nopay')).post('/screening/submit', person, headers);
    expect([other.status, isReplay(other)]).toEqual([200, false]);
    expect(other.body.id).not.toBe(first.body.id);
  });

  it('409 IDEMPOTENCY_KEY_REUSED: the key is the same and the body differs', async () => {
    const headers = keyed();
    await demo.post('/screening/submit', aPerson(), headers);
    const other = await demo.post('/screening/submit', aPerson(), headers);
    expect([other.status, code(other), other.body.error.recoverable]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED', false]);
  });

  it('200: concurrent requests with one key are one submission', async () => {
    const headers = keyed();
    const person = aPerson({ lastName: 'Slowtest' });
    const before = await registrations();
    const replies = await Promise.all(Array.from({ length: 8 }, () => demo.post('/screening/submit', person, headers)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies.filter(isReplay)).toHaveLength(7);
    expect(await registrations()).toBe(before + 1);
  });

  it('404: a negative answer of the vendor is repeated', async () => {
    const [headers, person] = [keyed(), aPerson({ lastName: 'Notfound' })];
    const before = await registrations();
    const first = await demo.post('/screening/submit', person, headers);
    const again = await demo.post('/screening/submit', person, headers);
    expect([first.status, again.status, isReplay(again), again.text]).toEqual([404, 404, true, first.text]);
    expect(await registrations()).toBe(before + 1);
  });

  it('400 and then 200: a refused body leaves the key unused for the right one', async () => {
    const [headers, person] = [keyed(), aPerson()];
    for (let time = 0; time < 2; time++) {
      const refused = await demo.post('/screening/submit', { ...person, currentZip: 'x' }, headers);
      expect([refused.status, isReplay(refused)]).toEqual([400, false]);
    }
    const first = await demo.post('/screening/submit', person, headers);
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    expect(isReplay(await demo.post('/screening/submit', person, headers))).toBe(true);
  });

  it('503: the reply during an outage is not kept, and the same key succeeds afterwards', async () => {
    const headers = keyed();
    const person = aPerson({ lastName: 'Flakytest' });
    const first = await demo.post('/screening/submit', person, headers);
    expect([first.status, code(first)]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    const second = await demo.post('/screening/submit', person, headers);
    expect([second.status, second.body.status, isReplay(second)]).toEqual([200, 'VERIFIED', false]);
    const third = await demo.post('/screening/submit', person, headers);
    expect([isReplay(third), third.text]).toEqual([true, second.text]);
  });

  it('400 VALIDATION_ERROR: a key that is empty or too long', async () => {
    for (const key of ['', 'k'.repeat(256)]) {
      const reply = await demo.post('/screening/submit', aPerson(), keyed(key));
      expect([reply.status, code(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'Idempotency-Key']);
    }
  });

  it('401: a caller without a token gets no kept reply', async () => {
    const headers = keyed();
    const person = aPerson();
    await demo.post('/screening/submit', person, headers);
    const reply = await service.request('POST', '/screening/submit', { headers, body: person });
    expect([reply.status, isReplay(reply)]).toEqual([401, false]);
  });
});

describe('an answer with an Idempotency-Key', () => {
  const otpSession = async (): Promise<string> => (await demo.submit({ lastName: 'Otptest' })).body.id;

  it('200: a wrong code sent twice uses one attempt', async () => {
    const id = await otpSession();
    const headers = keyed();
    const first = await demo.post(`/screening/${id}/otp`, { code: '000000' }, headers);
    const again = await demo.post(`/screening/${id}/otp`, { code: '000000' }, headers);
    expect([first.body.attemptsRemaining, isReplay(again), again.text]).toEqual([2, true, first.text]);
    expect((await demo.post(`/screening/${id}/otp`, { code: '000000' }, keyed())).body.attemptsRemaining).toBe(1);
  });

  it('200: a right code sent twice answers VERIFIED twice, not SESSION_EXPIRED', async () => {
    const id = await otpSession();
    const headers = keyed();
    for (let time = 0; time < 2; time++)
      expect((await demo.post(`/screening/${id}/otp`, { code: '123456' }, headers)).body).toEqual({
        id,
        status: 'VERIFIED',
      });
    expect((await demo.post(`/screening/${id}/otp`, { code: '123456' })).status).toBe(410);
  });

  it('200: one key for two sessions counts as two requests', async () => {
    const headers = keyed();
    const [one, other] = [await otpSession(), await otpSession()];
    for (const id of [one, other]) {
      const reply = await demo.post(`/screening/${id}/otp`, { code: '123456' }, headers);
      expect([reply.body, isReplay(reply)]).toEqual([{ id, status: 'VERIFIED' }, false]);
    }
  });

  it('200: a resend request that is sent twice causes one SMS', async () => {
    const id = await otpSession();
    const headers = keyed();
    for (let time = 0; time < 8; time++)
      expect((await demo.post(`/screening/${id}/otp/resend`, undefined, headers)).status).toBe(200);
    for (let time = 0; time < 4; time++) expect((await demo.post(`/screening/${id}/otp/resend`)).status).toBe(200);
    expect((await demo.post(`/screening/${id}/otp/resend`)).status).toBe(429);
  });
});
