// A receiver that was down for ten days, and was restored from an old backup, catches up with one call. It then proves with the program of the how-to
// page that nothing is missing.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { type Reply, Service } from '../support/service.js';

const DAY = 86_400;
const PAGE = join(import.meta.dirname, '../../docs/how-to/receive-webhooks.md');

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let folder: string;
beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust, folder] = await Promise.all([
    HttpsReceiver.start({ authority }),
    trustFile(authority),
    mkdtemp(join(tmpdir(), 'restored-')),
  ]);
  service = await Service.start({ WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', NODE_EXTRA_CA_CERTS: trust.file });
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  for (const made of [trust.folder, folder]) await rm(made, { recursive: true, force: true });
});

/** The lines of the receiver's own file, one for each delivery that it took. */
const taken = (): string[] =>
  receiver.requests.map(({ headers, body }) =>
    JSON.stringify({
      sequence: Number(headers['service-event-sequence']),
      digest: headers['service-event-digest'],
      body: Buffer.from(body).toString('utf8'),
    }),
  );

it('catches up with one call after ten days, and proves that nothing is missing', async () => {
  const account = (await service.credentials()).accounts.nopay;
  const headers = { 'x-secret-key': account.secretKey };
  const read = (path: string): Promise<Reply> => service.request('GET', path, { headers });
  const aDayLater = async (): Promise<void> => {
    const body = { advance: DAY };
    expect((await service.request('POST', '/v1/test_helpers/clock', { headers, body })).status).toBe(200);
    await until('the day is over', async () => (await read('/v1/test_helpers/clock')).body.status === 'ready');
  };
  const happens = async (count: number): Promise<void> => {
    const page = await service.signIn('nopay');
    for (let one = 0; one < count; one += 1) await page.submit({ lastName: 'Otptest' });
  };
  const owner = new EndpointOwner(service, account);
  await owner.register(receiver.url('/hooks'));
  await happens(4);
  await until('the receiver has four events', () => receiver.requests.length === 4);
  const backup = taken().slice(0, 2);

  receiver.play('/status/500');
  for (let day = 1; day <= 10; day += 1) {
    await happens(1);
    await aDayLater();
  }
  expect(await owner.endpoint()).toMatchObject({ status: 'disabled' });

  receiver.play(null);
  receiver.requests.length = 0;
  expect((await owner.change({ resume_from: 3 })).status).toBe(200);
  const delivered = new Set<string>();
  await until('every event has come', () => {
    for (const line of taken()) delivered.add(line);
    return delivered.size === 12;
  });
  const sequences = [...delivered].map((line) => JSON.parse(line).sequence as number);
  expect(sequences).toEqual([...sequences].sort((one, other) => one - other));
  for (const request of receiver.requests) owner.verified(request);

  const programs = [...(await readFile(PAGE, 'utf8')).matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
    ([, text = '']) => text,
  );
  const [program, stored] = [join(folder, 'check.mjs'), join(folder, 'deliveries.jsonl')];
  await writeFile(program, programs.find((text) => text.includes('/v1/events/heads')) ?? '');
  await writeFile(stored, [...backup, ...delivered].join('\n'));
  const env = { ...process.env, SCREENING_URL: service.baseUrl, SCREENING_SECRET_KEY: account.secretKey };
  const { stdout } = await promisify(execFile)(process.execPath, [program, stored], { env });
  // The feed also tells that the endpoint was failing and disabled.
  expect(stdout.trim()).toBe('16 events, none is missing');
});
