// `resume_from` gives an endpoint what it missed, in order and before new events (docs/contract/webhooks.md#resume).
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CertificateAuthority } from '../../support/certificates.js';
import { EndpointOwner, trustFile } from '../../support/endpoint-owner.js';
import { HttpsReceiver, type ReceivedRequest } from '../../support/https-receiver.js';
import { type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let owner: EndpointOwner;
let caller: PlatformCaller;
/** The number of events in the feed that endpoints get. */
let published = 0;

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start({
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: trust.file,
    // One exhausted delivery makes an endpoint failing, and it is disabled soon afterwards.
    WEBHOOK_RETRY_LADDER: '0',
    WEBHOOK_FAILING_AFTER: '1',
    WEBHOOK_DISABLE_AFTER: '0.5',
    WEBHOOK_TIMEOUT: '2',
  });
  owner = new EndpointOwner(service, (await service.credentials()).accounts.nopay);
  caller = await service.signIn('nopay');
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});
beforeEach(() => {
  receiver.play(null);
  receiver.requests.length = 0;
});

/** Publishes this number of events. */
async function happens(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => caller.submit({ lastName: 'Otptest' })));
  published += count;
  await until('they are in the feed', async () => (await inFeed()).length === published);
}

/** The sequences of the events that endpoints get. The feed also has the changes of the endpoint's health. */
async function inFeed(): Promise<number[]> {
  const headers = { 'x-secret-key': owner.account.secretKey };
  const path = '/v1/events?types=screening.step_up_required&limit=1000';
  return (await service.request('GET', path, { headers })).body.data.map(({ sequence }: any) => sequence);
}

const sequences = (requests: readonly ReceivedRequest[] = receiver.requests): number[] =>
  requests.map(({ headers }) => Number(headers['service-event-sequence']));
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const inOrder = (sequences: readonly number[]): number[] => [...sequences].sort((one, other) => one - other);
const arrived = (count: number): Promise<void> =>
  until(`${count} have arrived`, () => receiver.requests.length >= count);
/** Waits until the newest resume is over. */
const resumed = (): Promise<void> =>
  until('the resume is over', async () => {
    const { stdout } = await service.ops('stream', 'show', `webhook_endpoint-${owner.account.accountId}`);
    return stdout.lastIndexOf('"WebhookResumed"') > stdout.lastIndexOf('"WebhookResumeRequested"');
  });
const refused = ({ status, body }: Reply): unknown[] => [status, body.error?.code, body.error?.field];

describe('resume_from', () => {
  it('delivers events from before the registration, in order, and holds back new ones until then', async () => {
    await happens(5);
    await owner.register(receiver.url('/here'));
    expect(await owner.endpoint()).toMatchObject({ missed_events: 0, missed_from: null });
    const reply = await owner.change({ resume_from: 2 });
    expect([reply.status, reply.body.status]).toEqual([200, 'active']);
    await happens(3);
    await arrived(7);
    expect([sequences().slice(0, 4), inOrder(sequences().slice(4))]).toEqual([from(2, 5), from(6, 8)]);
    for (const request of receiver.requests) owner.verified(request);
    await resumed();
    await happens(1);
    await arrived(8);
    expect(sequences().at(-1)).toBe(9);
    // The receiver has the event before the log has its answer.
    await until('nothing is missed', async () => (await owner.endpoint()).missed_events === 0);
    expect(await owner.endpoint()).toMatchObject({ missed_from: null, missed_more: false });
  });

  it('delivers everything again to a receiver that was restored from an old backup, under the same event ids', async () => {
    await owner.register(receiver.url('/here'));
    await owner.change({ resume_from: 0 });
    await arrived(published);
    expect(sequences()).toEqual(from(1, published));
    const first = receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body.toString()]);
    await resumed();
    receiver.requests.length = 0;
    await owner.change({ resume_from: 1 });
    await arrived(published);
    expect(receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body.toString()])).toEqual(first);
    expect(new Set((await owner.deliveries()).map(({ delivery_id }) => delivery_id)).size).toBe(2 * published);
  });

  it('gives a disabled endpoint what it missed, whose number the endpoint shows', async () => {
    await owner.register(receiver.url('/here'));
    await happens(1);
    await arrived(1);
    const before = published;
    receiver.play('/status/500');
    await happens(2);
    await until('it is disabled', async () => (await owner.endpoint()).status === 'disabled');
    await happens(3);
    const [missedFrom] = (await inFeed()).slice(before);
    expect(await owner.endpoint()).toMatchObject({ missed_events: 5, missed_from: missedFrom });
    receiver.play(null);
    receiver.requests.length = 0;
    // Nothing is sent unasked.
    const plain = await owner.change();
    expect(plain.body).toMatchObject({ status: 'active', missed_events: 5, missed_from: missedFrom });
    await happens(1);
    await arrived(1);
    expect(sequences()).toEqual((await inFeed()).slice(-1));
    receiver.requests.length = 0;
    expect((await owner.change({ resume_from: missedFrom })).status).toBe(200);
    await arrived(6);
    expect(sequences()).toEqual((await inFeed()).slice(before));
    await until('nothing is missed', async () => (await owner.endpoint()).missed_events === 0);
  });

  it('skips the types that the endpoint does not get, and counts none of them', async () => {
    await owner.register(receiver.url('/here'), { enabled_events: ['screening.completed'] });
    await happens(2);
    expect(await owner.endpoint()).toMatchObject({ missed_events: 0, missed_from: null });
    await owner.change({ resume_from: 1 });
    await resumed();
    expect(receiver.requests).toEqual([]);
  });

  it('beyond the head delivers nothing but new events', async () => {
    await owner.register(receiver.url('/here'));
    await owner.change({ resume_from: published + 1_000 });
    await happens(2);
    await arrived(2);
    expect(inOrder(sequences())).toEqual((await inFeed()).slice(-2));
  });

  it.each([-1, 1.5, '1', true, []])('400 VALIDATION_ERROR for %p', async (resume_from) => {
    expect(refused(await owner.change({ resume_from }))).toEqual([400, 'VALIDATION_ERROR', 'resume_from']);
  });

  it('404 WEBHOOK_ENDPOINT_NOT_FOUND for an endpoint of another account', async () => {
    const other = new EndpointOwner(service, (await service.credentials()).accounts.unrelated);
    const reply = await other.request('PUT', `/${owner.endpointId}`, { resume_from: 1 });
    expect(refused(reply)).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND', undefined]);
  });
});
