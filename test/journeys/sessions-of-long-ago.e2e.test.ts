// A session that has no document in Redis looks the same to its page, to servers, to the dashboard and to the operator.
import { rm } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { Processor } from '../support/processor.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../support/service.js';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

let trust: Awaited<ReturnType<typeof trustFile>>;
let receiver: HttpsReceiver;
let service: Service;
let accounts: Credentials['accounts'];
let demo: PlatformCaller;
let child: PlatformCaller;
let unrelated: PlatformCaller;
let owner: EndpointOwner;
let redis: Redis;

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start({
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: trust.file,
    WEBHOOK_REDELIVERY_INTERVAL: '0',
  });
  redis = service.redis.client();
  ({ accounts } = await service.credentials());
  await signIn();
  owner = new EndpointOwner(service, accounts.demo);
  await owner.register(receiver.url('/demo'));
});

async function signIn(): Promise<void> {
  [demo, child, unrelated] = await Promise.all([
    service.signIn('demo'),
    service.signIn('child'),
    service.signIn('unrelated'),
  ]);
}

afterAll(async () => {
  await service.stop();
  await receiver.close();
  await rm(trust.folder, { recursive: true, force: true });
});

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const told = ({ status, body }: Reply): [number, unknown] => [status, body];
const asServer = (path: string): Promise<Reply> =>
  service.request('GET', path, { headers: { 'x-secret-key': accounts.demo.secretKey } });

/** A session that was paid for, read and shared with `child`, and that has an income session. */
async function session(): Promise<{ readonly id: string; readonly income: string }> {
  const { id } = (await demo.submit({ lastName: 'Otptest' })).body;
  await demo.post(`/screening/${id}/otp`, { code: '123456' });
  const { body } = await demo.post('/payments/create-intent', { amount: 3_500, screeningId: id });
  await new Processor(service.sandboxUrl).confirm(body.client_secret, 'pm_card_visa');
  await demo.post(`/payments/${body.transaction_id}/confirm`);
  await until('it is paid', async () => (await demo.status(id)).body.overallStatus === 'COMPLETED');
  expect((await demo.get(`/reports/${id}`)).status).toBe(200);
  const shared = await demo.post(`/reports/${id}/consent-to-share`, {
    recipientAccountId: accounts.child.accountId,
  });
  expect(shared.status).toBe(200);
  const { income_session_id: income } = (await demo.post('/voie/sessions', { screening_session_id: id })).body;
  const status = async (): Promise<string> => (await demo.get(`/voie/sessions/${income}/status`)).body.status;
  await until('the income session is over', async () => !['CREATED', 'IN_PROGRESS'].includes(await status()));
  // The webhook of the income session arrives last.
  await until('the webhooks are delivered', async () => {
    const deliveries = await owner.deliveries();
    const last = deliveries.some((delivery) => delivery.event_type === 'income_report.completed');
    return last && deliveries.every((delivery) => delivery.status === 'succeeded');
  });
  return { id, income };
}

/** Everything that can be read about a session without an event in the log. */
async function shown(id: string, income: string) {
  const deliveries = await owner.deliveries();
  return {
    page: told(await demo.status(id)),
    server: told(await asServer(`/v1/screenings/${id}/status`)),
    stranger: refused(await unrelated.status(id)),
    unknown: refused(await demo.status(UNKNOWN)),
    income: told(await demo.get(`/voie/sessions/${income}/status`)),
    incomeOfStranger: refused(await unrelated.get(`/voie/sessions/${income}/status`)),
    deliveries,
    ofOneType: await owner.deliveries({ event_type: 'screening.completed' }),
    failed: await owner.deliveries({ status: 'exhausted' }),
    details: await Promise.all(deliveries.map(({ delivery_id }) => owner.delivery(delivery_id))),
    timeline: (await service.ops('timeline', id)).stdout.replace(/"asOf":"[^"]*"/, ''),
  };
}

/** The documents that Redis keeps for outages of the log. */
const documents = (): Promise<string[]> => redis.keys('{*}:document:*');

it('a session without documents in Redis can be read, shared, submitted again and erased as before', async () => {
  const { id, income } = await session();
  const before = await shown(id, income);
  expect(before).toMatchObject({ stranger: [404, 'NOT_FOUND'], unknown: [404, 'NOT_FOUND'], failed: [] });
  const kept = await documents();
  expect(kept.length).toBeGreaterThan(2);

  await service.program.end('SIGTERM');
  await service.startAgain({ READ_MODEL_HOURS: '0' });
  await signIn();
  // Deletes the documents, as their expiry would.
  await redis.del(...kept);
  expect(await shown(id, income)).toEqual(before);

  expect((await child.get(`/reports/${id}`)).status).toBe(200);
  const revoked = await demo.post(`/reports/${id}/revoke-sharing`, {
    recipientAccountId: accounts.child.accountId,
  });
  expect(revoked.status).toBe(200);
  expect(refused(await child.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_REVOKED']);

  const deliveryId = before.deliveries.at(-1)?.delivery_id ?? '';
  expect((await owner.redeliver(deliveryId)).status).toBe(202);
  await until('it is delivered again', async () => {
    const { status, attempt_count } = await owner.delivery(deliveryId);
    return status === 'succeeded' && attempt_count === 2;
  });
  const now = await owner.deliveries({ status: 'succeeded' });
  expect(now.filter(({ delivery_id }) => delivery_id === deliveryId)).toHaveLength(1);
  await until('nothing is listed as pending', async () => (await owner.deliveries({ status: 'pending' })).length === 0);

  expect((await service.ops('person', 'erase', id)).exitCode).toBe(0);
  expect((await demo.get(`/reports/${id}`)).status).toBe(410);
  expect((await demo.status(id)).body).toMatchObject({ id, overallStatus: 'COMPLETED' });
});
