// Two resumes at once, whose process is killed. Each receiver gets every event of its feed, in order and before new ones (docs/contract/webhooks.md#resume).
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { type PlatformCaller, Service } from '../support/service.js';

/** A resume of 80 events takes 1.6 s, so the process can be killed in the middle. */
const COUNT = 80;
const NEW = 5;
/** Enough for the lease of a killed process to end. */
const SETTLED_MS = 60_000;
const NAMES = ['nopay', 'demo'] as const;

type Name = (typeof NAMES)[number];

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let owners: Record<Name, EndpointOwner>;
let callers: Record<Name, PlatformCaller>;

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start(
    {
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
      NODE_EXTRA_CA_CERTS: trust.file,
      WEBHOOK_TIMEOUT: '1',
      LOG_LEVEL: 'warn',
    },
    { alone: ['service'] },
  );
  const { accounts } = await service.credentials();
  owners = {
    nopay: new EndpointOwner(service, accounts.nopay),
    demo: new EndpointOwner(service, accounts.demo),
  };
  callers = { nopay: await service.signIn('nopay'), demo: await service.signIn('demo') };
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});

async function happens(name: Name, count: number, published: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => callers[name].submit({ lastName: 'Otptest' })));
  const headers = { 'x-secret-key': owners[name].account.secretKey };
  await until('they are in the feed', async () => {
    const { body } = await service.request('GET', '/v1/events?limit=1', { headers });
    return body.head?.sequence === published;
  });
}

/** The sequences of the account in the order of their first arrival. */
const arrived = (name: Name): number[] => [
  ...new Set(
    receiver.requests
      .filter(({ path }) => path.endsWith(`/${name}`))
      .map(({ headers }) => Number(headers['service-event-sequence'])),
  ),
];
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('two resumes whose process is killed', () => {
  it('deliver every event in order, then the new ones, and neither waits for the slow receiver of the other', async () => {
    for (const name of NAMES) await happens(name, COUNT, COUNT);
    await owners.nopay.register(receiver.url('/nopay'));
    await owners.demo.register(receiver.url('/hang/demo'));
    expect((await owners.demo.change({ resume_from: 1 })).status).toBe(200);
    await until('the slow one has begun', () => arrived('demo').length >= 1, SETTLED_MS);
    expect((await owners.nopay.change({ resume_from: 1 })).status).toBe(200);
    await until('the other is in its middle', () => arrived('nopay').length >= 10, SETTLED_MS);
    await service.kill9();
    const before = arrived('nopay').length;
    await service.startAgain();
    for (const name of NAMES) await happens(name, NEW, COUNT + NEW);
    await until('one has everything', () => arrived('nopay').length === COUNT + NEW, SETTLED_MS);
    expect(arrived('demo').length).toBeLessThan(COUNT);
    await owners.demo.change({ url: receiver.url('/demo') });
    await until('both have everything', () => arrived('demo').length === COUNT + NEW, SETTLED_MS);
    expect([before < COUNT, ...NAMES.map((name) => arrived(name).slice(0, COUNT))]).toEqual([
      true,
      from(1, COUNT),
      from(1, COUNT),
    ]);
    // The killed process may have sent one event whose record is missing.
    const sent = receiver.requests.filter(({ path }) => path === '/nopay').length;
    expect(sent).toBeLessThanOrEqual(COUNT + NEW + 1);
  });
});
