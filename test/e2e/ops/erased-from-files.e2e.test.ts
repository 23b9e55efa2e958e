// Guarantee: after an erasure, no file holds readable data of the person, even with the master key. The test covers
// data that waited for a worker, printed reports, and replies kept for repeated requests. Redis' append-only file holds
// all this data until Redis rewrites the file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Sealing } from '../../../src/adapters/sealed-payloads/sealing.js';
import { decrypt } from '../../../src/adapters/vault/aead.js';
import { DataKeyFile } from '../../../src/adapters/vault/data-key-file.js';
import { developmentMasterKey } from '../../../src/adapters/vault/development-key.js';
import { DiskVault } from '../../../src/adapters/vault/disk.js';
import { expandKey, MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { sealContext } from '../../../src/adapters/vault/names.js';
import { SystemClock } from '../../../src/kernel/clock.js';
import { NotAuthentic } from '../../../src/ports/vault.js';
import { aPerson, type PlatformCaller, type Reply, Service, WITH_BROWSER } from '../../support/service.js';
import { until } from '../../support/eventually.js';

const PURPOSES: Readonly<Record<string, string>> = {
  sealed: 'sealed-payloads',
  'temporary-file': 'temporary-files',
  idempotency: 'idempotency-replies',
};

let service: Service;
let worker: Service;
let nopay: PlatformCaller;
let vault: DiskVault;
let masterKeys: MasterKeys;

// The roles run in separate processes, so that all data passes through Redis.
beforeAll(async () => {
  service = await Service.start({ ...WITH_BROWSER, ROLE: 'api', VENDOR_TIMEOUT: '20' });
  worker = await service.startBeside({ ROLE: 'worker' });
  nopay = await service.signIn('nopay');
  const directory = join(service.dataDir, 'vault');
  masterKeys = MasterKeys.parse(await developmentMasterKey(join(service.dataDir, 'keys')));
  vault = DiskVault.open({ directory, keys: masterKeys, clock: new SystemClock() });
});
afterAll(async () => {
  await vault.close();
  await worker.program.end('SIGTERM');
  await service.stop();
});

/** The arguments of every command in Redis' append-only files. */
async function commandsInFiles(): Promise<Buffer[][]> {
  const [, folder = ''] = (await service.redis.client().config('GET', 'dir')) as string[];
  const commands: Buffer[][] = [];
  for (const name of readdirSync(join(folder, 'appendonlydir')).filter((one) => one.endsWith('.incr.aof'))) {
    const file = readFileSync(join(folder, 'appendonlydir', name));
    const line = (at: number): [string, number] => {
      const end = file.indexOf('\r\n', at);
      return [file.toString('latin1', at, end), end + 2];
    };
    for (let at = 0; at < file.length;) {
      const [count, first] = line(at);
      at = first;
      const parts: Buffer[] = [];
      for (let part = 0; part < Number(count.slice(1)); part++) {
        const [length, begin] = line(at);
        parts.push(file.subarray(begin, begin + Number(length.slice(1))));
        at = begin + Number(length.slice(1)) + 2;
      }
      commands.push(parts);
    }
  }
  return commands;
}

/**
 * Decrypts everything that it can in those files. The function uses the vault, each data key in the key file, and keys
 * derived from the master key.
 */
async function whatOpens(): Promise<string[]> {
  const file = DataKeyFile.open(join(service.dataDir, 'vault'), masterKeys);
  const dataKeys = file.keyIds(0, 4_096).flatMap(({ slot }) => file.read(slot) ?? []);
  file.close();
  const opened: string[] = [];
  const attempt = async (open: () => Uint8Array | null | Promise<Uint8Array | null>): Promise<void> => {
    try {
      const plain = await open();
      if (plain !== null) opened.push(Buffer.from(plain).toString('latin1'));
    } catch (error) {
      if (!(error instanceof NotAuthentic)) throw error;
    }
  };
  for (const command of await commandsInFiles()) {
    const name = command
      .map((part) => part.toString('latin1'))
      .find((part) => /^(sealed|temporary-file|idempotency):/.test(part));
    if (name === undefined) continue;
    const purpose = PURPOSES[name.slice(0, name.indexOf(':'))] ?? '';
    const reference = purpose === 'idempotency-replies' ? name : name.slice(name.indexOf(':') + 1);
    for (const value of command.filter((part) => part.length > 60)) {
      await attempt(() => new Sealing(vault, purpose).open(reference, value));
      const subject = value.toString('latin1', 2, 2 + (value[1] ?? 0));
      if (/^[\x21-\x7e]+$/.test(subject))
        for (const { slot, bytes } of dataKeys)
          await attempt(() =>
            decrypt(bytes, sealContext(subject, `${purpose}/${reference}`, slot), value.subarray(2 + subject.length)),
          );
      const idEnd = 1 + (value[0] ?? 0);
      await attempt(() => decrypt(expandKey(masterKeys.derive(purpose), reference), reference, value.subarray(idEnd)));
    }
  }
  return opened;
}

/** A text of a report that is long enough to be unique. */
function textIn(report: unknown): string {
  if (typeof report === 'string') return report.length >= 10 && !/^[A-Z0-9_:.TZ-]+$/.test(report) ? report : '';
  return typeof report === 'object' && report !== null
    ? (Object.values(report)
        .map(textIn)
        .find((text) => text !== '') ?? '')
    : '';
}

const status = async (id: string): Promise<string> => (await nopay.status(id)).body.status;
const registrations = async (): Promise<number> =>
  (
    (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
      operations: { registration?: { received: number } };
    }
  ).operations.registration?.received ?? 0;

it('an erasure leaves no data that can be decrypted; afterwards the same request gets 410, and a link to a printed report gets 403', async () => {
  const kept = { 'idempotency-key': randomUUID() };
  const person = aPerson({ lastName: 'Kbatest', ssn: '987013377', jscPayload: 'FP-CANARY-7f3a9b1c2d' });
  await until('the worker takes calls', async () => (await nopay.submit()).status === 200);
  const submit = (): Promise<Reply> => nopay.post('/screening/submit', person, kept);
  const submitted = await submit();
  const { id } = submitted.body;
  expect((await submit()).text).toBe(submitted.text);
  const answers = submitted.body.stepUp.kbaQuestions.map(({ id: questionId }: { id: number }, index: number) => ({
    questionId,
    answerId: index + 1,
  }));
  expect((await nopay.post(`/screening/${id}/kba`, { answers }, { 'idempotency-key': randomUUID() })).body.status).toBe(
    'VERIFIED',
  );
  const report = await nopay.get(`/reports/${id}`);
  expect(report.status).toBe(200);
  const printed = await nopay.post(
    `/reports/${id}/pdf`,
    { html: '<p>Printed canary paragraph</p>' },
    { 'idempotency-key': randomUUID() },
  );
  expect(printed.status).toBe(200);
  const link = printed.body.url.slice(service.baseUrl.length);
  expect((await service.request('GET', link)).status).toBe(200);
  const coded = (await nopay.submit({ lastName: 'Otptest' })).body.id;
  await nopay.post(`/screening/${coded}/otp`, { code: '98765432' });
  const bystander = (await nopay.submit({ lastName: 'Otptest', firstName: 'Bystander' })).body.id;
  await nopay.post(`/screening/${bystander}/otp`, { code: '11112222' });

  const canaries = [
    '987013377',
    'FP-CANARY-7f3a9b1c2d',
    submitted.body.stepUp.kbaQuestions[0].text,
    'Printed canary paragraph',
    '%PDF-',
    '98765432',
  ];
  const before = await whatOpens();
  // The report is in the vault. The worker that asked the bureau stored it there.
  const pulled = textIn(report.body.report);
  expect([pulled.length > 4, before.some((plain) => plain.includes(pulled))]).toEqual([true, false]);
  for (const canary of [...canaries, '11112222'])
    expect([canary, canary.length > 4 && before.some((plain) => plain.includes(canary))]).toEqual([canary, true]);

  for (const session of [id, coded]) expect((await service.ops('person', 'erase', session)).exitCode).toBe(0);

  const after = await whatOpens();
  for (const canary of canaries)
    expect([canary, after.some((plain) => plain.includes(canary))]).toEqual([canary, false]);
  expect(after.some((plain) => plain.includes('11112222'))).toBe(true);

  const asked = await registrations();
  const again = await submit();
  expect([again.status, again.body.error.code]).toEqual([410, 'SESSION_EXPIRED']);
  expect(await registrations()).toBe(asked);
  expect((await service.request('GET', link)).status).toBe(403);
  for (const path of ['pdf', 'consent-to-share'])
    expect((await nopay.post(`/reports/${id}/${path}`, { html: '<p>again' })).body.error.code).toBe(
      'SCREENING_REPORT_EXPIRED',
    );
  expect(await status(bystander)).toBe('OTP_PENDING');
});
