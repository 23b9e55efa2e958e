// Sessions that registrations of the direct API open, as everybody else sees them: operators, servers with a secret key, pages.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { developmentMasterKey } from '../../../src/adapters/vault/development-key.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { idOf } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { secretsEntry, vendorReplyEntry } from '../../../src/modules/screening/domain/session.js';
import { aRegistration, DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { Service, type Reply } from '../../support/service.js';

let service: Service;
let server: DirectCaller;
let store: EmbeddedEventStore;
let vault: DiskVault;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '10' });
  server = await DirectCaller.of(service);
  store = EmbeddedEventStore.open({ directory: join(service.dataDir, 'events') });
  const keys = MasterKeys.parse(await developmentMasterKey(join(service.dataDir, 'keys')));
  vault = DiskVault.open({ directory: join(service.dataDir, 'vault'), keys, clock: new SystemClock() });
});
afterAll(async () => {
  await vault?.close();
  await store?.close();
  await service?.stop();
});

interface Submission {
  readonly sessionId: string;
  readonly subjectId: string;
  readonly partyId: string;
}

/** A renter whose code is awaited, and the session underneath. */
async function registered(renterId: string): Promise<Submission> {
  const requestId = newId();
  const reply = await server.post(`/renters/${renterId}`, aRegistration({ lastName: 'Otptest' }), {
    'x-request-id': requestId,
  });
  expect(reply.status).toBe(200);
  const event = (await store.readAll(null, 100_000)).find(
    ({ type, metadata }) => type === 'ScreeningSubmitted' && metadata.$correlationId === requestId,
  );
  if (event === undefined) throw new Error('The registration opened no session');
  return { ...(event.data as Omit<Submission, 'sessionId'>), sessionId: idOf(event.stream) };
}

const linesOf = (stdout: string): any[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const kept = async (subject: string, entry: string): Promise<any> => {
  const value = await vault.get(subject, entry);
  return value === null ? null : JSON.parse(Buffer.from(value).toString());
};

describe('the session of a renter', () => {
  it('is read by the secret key of its account, and is 404 to every page of it', async () => {
    const { sessionId } = await registered(newId());
    const { secretKey } = (await service.credentials()).accounts.nopay;
    const status = await service.request('GET', `/v1/screenings/${sessionId}/status`, {
      headers: { 'x-secret-key': secretKey },
    });
    expect([status.status, status.body.status, status.body.user_type]).toEqual([200, 'STEP_UP_REQUIRED', 'CONSUMER']);
    const page = await service.signIn('nopay');
    const touched: Reply[] = await Promise.all([
      page.status(sessionId),
      page.post(`/screening/${sessionId}/otp`, { code: '123456' }),
      page.post(`/screening/${sessionId}/otp/resend`),
      page.post(`/screening/${sessionId}/kba`, { answers: [] }),
      page.get(`/reports/${sessionId}`),
      page.post(`/reports/${sessionId}/consent-to-share`),
      page.post('/payments/create-intent', { screeningId: sessionId, amount: 3_500 }),
      page.post('/voie/sessions', { screening_session_id: sessionId }),
    ]);
    expect(touched.map(({ status }) => status)).toEqual(touched.map(() => 404));
  });

  it('keeps what the vendor said last, and the token by which it knows the renter', async () => {
    const renterId = newId();
    const { sessionId, subjectId } = await registered(renterId);
    expect(await kept(subjectId, vendorReplyEntry(sessionId))).toMatchObject({ step: 'registration' });
    const wrong = await server.post(`/renters/${renterId}/otp`, { code: '000000' });
    expect([wrong.status, wrong.body.errors]).toEqual([422, []]);
    const right = await server.post(`/renters/${renterId}/otp`, { code: '123456' });
    expect(right.status).toBe(200);
    const { reply, step } = await kept(subjectId, vendorReplyEntry(sessionId));
    expect([step, JSON.parse(reply.body)]).toEqual(['answers', right.body.payload]);
    expect(right.body.payload.UserToken).toEqual(expect.any(String));
    expect((await kept(subjectId, secretsEntry(sessionId))).personToken).toBe(right.body.payload.UserToken);
    expect((await server.get(`/renters/${renterId}/report`)).status).toBe(200);
  });

  it('is known to the other vendors by that token, as the session of a page is', async () => {
    const page = await service.signIn('nopay');
    const { id } = (await page.submit({ lastName: 'Otptest' })).body;
    expect((await page.post(`/screening/${id}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await page.get(`/reports/${id}`)).status).toBe(200);
    const { income_session_id } = (await page.post('/voie/sessions', { screening_session_id: id })).body;
    await until(
      'the income session is completed',
      async () => (await page.get(`/voie/sessions/${income_session_id}/status`)).body.status === 'COMPLETED',
    );
  });

  it('is told by its timeline together with its party, and can be erased', async () => {
    const renterId = newId();
    const { sessionId, subjectId, partyId } = await registered(renterId);
    expect(await service.ops('person', 'erase', sessionId)).toMatchObject({ exitCode: 0 });
    const told = linesOf((await service.ops('timeline', sessionId)).stdout);
    expect(told.filter(({ stream }) => stream === `party-${partyId}`)).toMatchObject([{ event: 'PartyRegistered' }]);
    expect(told.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['ScreeningSubmitted', 'StepUpRequired', 'SubjectKeyDestroyed', 'SessionExpired']),
    );
    expect(told.find(({ event }) => event === 'ScreeningSubmitted').actor.kind).toBe('api-key');
    expect(JSON.stringify(told)).not.toContain(renterId);
    await expect(vault.get(subjectId, vendorReplyEntry(sessionId))).rejects.toThrow();
    expect((await server.post(`/renters/${renterId}/otp`, { code: '123456' })).status).toBe(400);
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, linesOf(verified.stdout).at(-1).faults]).toEqual([0, 0]);
  });
});
