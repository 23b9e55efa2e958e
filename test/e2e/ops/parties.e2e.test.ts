// Sessions that the direct API opens for registrations, as operators, servers with a secret key, and pages see them.
import { appendFileSync } from 'node:fs';
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

/** Registers a renter who must enter a code. Returns the session that the registration opened. */
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
  it('can be read with the secret key of its account, and is 404 for every page of the account', async () => {
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

  it("keeps the newest reply of the vendor, and the vendor's token for the renter", async () => {
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

  it("keeps a vendor token that the other vendors accept, like the token of a page's session", async () => {
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

  it('has a timeline that names its party, and can be erased', async () => {
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

describe('a vendor token that the service stores', () => {
  /** The subjects of the tokens that the service stored for the party, oldest first. */
  const subjects = async (partyId: string): Promise<string[]> =>
    (await store.readStream(`party-${partyId}`))
      .filter(({ type }) => type === 'VendorTokenStored')
      .map(({ data }) => (data as unknown as Submission).subjectId);
  const keepToken = async (id: string, token: string): Promise<string> => {
    expect((await server.put(`/organizations/${id}?token=${token}`)).status).toBe(200);
    const { stream } = (await store.readAll(null, 100_000)).findLast(({ type }) => type === 'VendorTokenStored')!;
    return idOf(stream);
  };
  const isAuditClean = async (): Promise<void> => {
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, linesOf(verified.stdout).at(-1).faults]).toEqual([0, 0]);
  };
  const erased = (subject: string): Promise<string> =>
    vault.get(subject, 'none').then(
      () => 'is there',
      (error: Error) => error.name,
    );

  it("is erased by the party's id when the party has no sessions; afterwards another token can be stored", async () => {
    const { accountId } = (await service.credentials()).accounts.nopay;
    const partyId = await keepToken('tokens-only', 'canary-one');
    const [first = ''] = await subjects(partyId);
    expect(await erased(first)).toBe('is there');
    const erase = () => service.ops('person', 'erase-party', accountId, 'test', 'organization', 'tokens-only');
    const reply = await erase();
    expect([reply.exitCode, linesOf(reply.stdout)]).toEqual([0, [{ erasedSubject: first }]]);
    expect(await erased(first)).toBe('SubjectErased');
    expect((await server.get('/organizations/tokens-only/auth/status')).body.errors[0].errorCode).toBe(138);
    const again = await erase();
    expect([again.exitCode, linesOf(again.stdout)]).toEqual([0, [{ erasedSubject: null }]]);
    await isAuditClean();

    await keepToken('tokens-only', 'canary-two');
    const [, second = ''] = await subjects(partyId);
    expect([second === first, await erased(second)]).toEqual([false, 'is there']);
    expect(linesOf((await erase()).stdout)).toEqual([{ erasedSubject: second }]);
    expect(await erased(second)).toBe('SubjectErased');
    await isAuditClean();
    const events = (await store.readStream(`party-${partyId}`)).map(({ type, metadata }) => [type, metadata.reason]);
    expect(events).toEqual([
      ['VendorTokenStored', undefined],
      ['VendorTokenErased', expect.any(String)],
      ['VendorTokenStored', undefined],
      ['VendorTokenErased', expect.any(String)],
    ]);
    expect(JSON.stringify(events)).not.toContain('tokens-only');
  });

  it("is erased with the person of one of the party's sessions; a repeated erasure keeps a token that was stored afterwards", async () => {
    expect((await server.register('organizations', 'both')).status).toBe(200);
    const partyId = await keepToken('both', 'canary-three');
    const { stream } = (await store.readAll(null, 100_000)).findLast(({ type }) => type === 'ScreeningSubmitted')!;
    const [first = ''] = await subjects(partyId);
    const erase = () => service.ops('person', 'erase', idOf(stream));
    expect((await erase()).exitCode).toBe(0);
    expect(await erased(first)).toBe('SubjectErased');
    await keepToken('both', 'canary-four');
    const [, second = ''] = await subjects(partyId);
    expect((await erase()).exitCode).toBe(0);
    expect([second === first, await erased(second)]).toEqual([false, 'is there']);
    await isAuditClean();
  });

  it('1: the party is unknown, or the arguments name no party', async () => {
    const { accountId } = (await service.credentials()).accounts.nopay;
    for (const [args, message] of [
      [[accountId, 'test', 'organization', 'unheard-of'], 'There is no such party.'],
      [[accountId, 'live', 'organization', 'both'], 'There is no such party.'],
      [['acme', 'test', 'organization', 'both'], 'The account must be an id'],
      [[accountId, 'test', 'tenant', 'both'], 'The kind must be one of renter, agent, organization.'],
    ] as const) {
      const reply = await service.ops('person', 'erase-party', ...args);
      expect([reply.exitCode, reply.stdout]).toEqual([1, expect.stringContaining(message)]);
    }
  });

  it('is recorded as erased at the next start when only the ledger had recorded the erasure', async () => {
    const partyId = await keepToken('half-erased', 'canary-five');
    const [subject = ''] = await subjects(partyId);
    const line = JSON.stringify({ subject, erasedAt: '2026-01-01T00:00:00.000Z' });
    appendFileSync(join(service.dataDir, 'erasures.jsonl'), `\n${line}\n`);
    expect((await service.ops('webhooks', 'backlog')).exitCode).toBe(0);
    expect(await erased(subject)).toBe('SubjectErased');
    expect((await store.readStream(`party-${partyId}`)).map(({ type }) => type)).toContain('VendorTokenErased');
    await isAuditClean();
  });
});
