// Wrong answers block a person even when the caller changes other details, and an operator ends the block
// (docs/contract/platform.md#wrong-answers-of-a-person).
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { idOf } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { DirectCaller } from '../../support/direct.js';
import { aPerson, type Person, type PlatformCaller, type Reply, Service } from '../../support/service.js';

let service: Service;
let page: PlatformCaller;
let server: DirectCaller;
let store: EmbeddedEventStore;

beforeAll(async () => {
  service = await Service.start({});
  page = await service.signIn('nopay');
  server = await DirectCaller.of(service);
  store = EmbeddedEventStore.open({ directory: join(service.dataDir, 'events') });
});
afterAll(async () => {
  await store?.close();
  await service?.stop();
});

const BLOCKED = { status: 'BLOCKED', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil: expect.any(String) };
const unblock = async (sessionId: string): Promise<unknown> => {
  const { exitCode, stdout } = await service.ops('person', 'unblock', sessionId, '--reason', 'ticket 4711');
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};
const newestSession = async (): Promise<string> => {
  const submitted = (await store.readAll(null, 100_000)).findLast(({ type }) => type === 'ScreeningSubmitted');
  return idOf(submitted?.stream ?? '');
};
const wrong = (sessionId: string): Promise<Reply> => page.post(`/screening/${sessionId}/otp`, { code: '000000' });

describe('an agent without an SSN', () => {
  it('gets 200 BLOCKED for the third wrong code, although each submission has another phone, until an operator ends the block', async () => {
    const { ssn: _, ...agent } = aPerson({ userType: 'AGENT', lastName: 'Otptest', dateOfBirth: '07041976' });
    const submit = (last: number): Promise<Reply> =>
      page.submit({ ...agent, ssn: undefined, phoneNumber: `415555020${last}` });
    const ids: string[] = [];
    for (const last of [0, 1]) {
      ids.push((await submit(last)).body.id);
      expect((await wrong(ids[last] ?? '')).body.status).toBe('OTP_PENDING');
    }
    const [first = '', second = ''] = ids;
    expect(await wrong(second)).toMatchObject({ status: 200, body: BLOCKED });
    expect(await page.post(`/screening/${first}/otp`, { code: '123456' })).toMatchObject({
      status: 200,
      body: BLOCKED,
    });
    expect(await submit(2)).toMatchObject({ status: 423, body: { error: { code: 'USER_BLOCKED' } } });

    expect(await unblock(first)).toEqual({ session: first, unblocked: true });
    expect(await unblock(first)).toEqual({ session: first, unblocked: false });
    const again = await submit(2);
    expect(again).toMatchObject({ status: 200, body: { status: 'STEP_UP_REQUIRED' } });
    expect(await page.post(`/screening/${again.body.id}/otp`, { code: '123456' })).toMatchObject({
      body: { status: 'VERIFIED' },
    });
    const told = (await service.ops('timeline', first)).stdout;
    for (const event of ['WrongAnswerCounted', 'BlockLifted', 'PersonUnlocked']) expect(told).toContain(event);
  });

  it('is counted in a metric that names no account', async () => {
    const { text } = await service.request('GET', '/metrics');
    expect(text).toMatch(/^wrong_answers_total\{environment="test",locked="true"\} [1-9]/m);
    expect(text).toMatch(/^wrong_answers_total\{environment="test",locked="false"\} [1-9]/m);
  });
});

describe('a party of the direct API', () => {
  it('gets 423/300 after wrong codes under its SSN with any birth date, and registers again after an operator ends the block', async () => {
    const { ssn } = aPerson();
    const person: Person = { lastName: 'Otptest' };
    const [one, two] = [newId(), newId()];
    expect((await server.register('renters', one, { ...person, ssn })).status).toBe(200);
    const sessionId = await newestSession();
    for (let count = 0; count < 2; count++)
      expect((await server.post(`/renters/${one}/otp`, { code: '000000' })).status).toBe(422);
    expect((await server.register('renters', two, { ...person, ssn, dob: '04131990' })).status).toBe(200);
    const locked = { status: 423, body: { errors: [{ errorCode: 300 }] } };
    expect(await server.post(`/renters/${two}/otp`, { code: '000000' })).toMatchObject(locked);
    expect(await server.post(`/renters/${one}/otp`, { code: '123456' })).toMatchObject(locked);
    expect(await page.submit({ ...person, ssn })).toMatchObject({ status: 423 });
    expect(await unblock(sessionId)).toMatchObject({ unblocked: true });
    expect((await server.register('renters', one, { ...person, ssn })).status).toBe(200);
    expect((await server.post(`/renters/${one}/otp`, { code: '123456' })).status).toBe(200);
  });
});
