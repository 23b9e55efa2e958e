// An operator exports the case file of a screening. Two programs that share no code check it against the log.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { unzipSync, zipSync } from 'fflate';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import type { Manifest } from '../../../src/transparency/case-file.js';
import { aPerson, type PlatformCaller, Service } from '../../support/service.js';

let service: Service;
let page: PlatformCaller;
let screening: string;
const folder = mkdtempSync(join(tmpdir(), 'case-files-'));
const zip = join(folder, 'case.zip');

beforeAll(async () => {
  service = await Service.shared('page');
  const { accounts } = await service.credentials();
  const { accountId } = accounts.child;
  await service.ops('accounts', 'set', accountId, '--payer', 'account');
  const certification = ['--purposes', 'TENANT_SCREENING', '--text', import.meta.filename, '--by', 'signer'];
  const until = ['--until', '2050-01-01T00:00:00Z', '--yes', '--reason', 'a test'];
  expect(await service.ops('accounts', 'certify', accountId, ...certification, ...until)).toMatchObject({
    exitCode: 0,
  });
  page = await service.signIn('child');
  const submitted = await page.post('/screening/submit', aPerson({ endUserType: 'PROPERTY_MANAGEMENT' }));
  screening = (submitted.body as { readonly id: string }).id;
  expect((await page.get(`/reports/${screening}`)).status).toBe(200);
  const order = ['--matter', 'dispute 4711', '--by', 'legal', '--reason', 'a test', '--yes'];
  expect(await service.ops('hold', 'place', '--session', screening, ...order)).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true });
});

const PYTHON_VERIFIER = join(import.meta.dirname, '../../support/verify_case.py');
const hasPython = spawnSync('python3', ['--version']).status === 0 && spawnSync('openssl', ['version']).status === 0;
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const run = (program: string, args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> =>
  new Promise((resolve) =>
    execFile(program, args, { cwd: folder, env: { PATH: process.env['PATH'] } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    ),
  );

it('a case file has all events of the screening, and its own verifier proves it against the log', async () => {
  const exported = await service.ops('case', 'export', screening, '--purpose', 'a court order', '--to', zip);
  expect(exported).toMatchObject({ exitCode: 0 });
  expect(readdirSync(folder)).toEqual(['case.zip']);
  const files = unzipSync(readFileSync(zip));
  const manifest = JSON.parse(textOf(files['manifest.json'])) as Manifest;
  expect(manifest).toMatchObject({ screening, purpose: 'a court order', actor: { kind: 'operator' } });
  const events = manifest.events.map((index) => JSON.parse(textOf(files[`events/${index}.json`])) as RecordedEvent);
  const types = events.map(({ type }) => type);
  expect(types).toEqual(
    expect.arrayContaining([
      'ScreeningSubmitted',
      'ConsentGiven',
      'ReportReleased',
      'ReportViewed',
      'CreditDebited',
      'PurposesCertified',
      'HoldPlaced',
      'OperatorToolUsed',
    ]),
  );
  expect(events.at(-1)?.data).toMatchObject({ tool: 'case export', purpose: 'a court order' });
  expect(textOf(files['timeline.pdf']).slice(0, 5)).toBe('%PDF-');

  for (const name of ['verify-case.mjs', 'policy']) writeFileSync(join(folder, name), files[name] ?? '');
  const against = ['--policy', 'policy', '--log', join(service.dataDir, 'transparency')];
  const { code, text } = await run(process.execPath, ['verify-case.mjs', 'case.zip', ...against]);
  expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining('The case file holds.') });
  expect(text).toContain(`events of the case under the checkpoint. The file has all of them.`);
  expect(text.trim().split('\n').at(-1)).toBe('The case file holds.');
  const overHttp = await run(process.execPath, [
    'verify-case.mjs',
    'case.zip',
    '--log',
    `${service.baseUrl}/transparency`,
  ]);
  expect(overHttp.code).toBe(0);
});

it('an export refuses an unknown screening, and a file that exists', async () => {
  const other = join(folder, 'other.zip');
  expect((await service.ops('case', 'export', '01234567-89ab-7cde-8f01-23456789abcd', '--to', other)).exitCode).toBe(1);
  expect(existsSync(other)).toBe(false);
  const before = readFileSync(zip);
  expect((await service.ops('case', 'export', screening, '--to', zip)).exitCode).toBe(1);
  expect(readFileSync(zip)).toEqual(before);
});

it('both verifiers refuse a changed event, and an event that was left out', async () => {
  const files = unzipSync(readFileSync(zip));
  const manifest = JSON.parse(textOf(files['manifest.json'])) as Manifest;
  const last = `events/${manifest.events.at(-1)}`;
  const changed = textOf(files[`${last}.json`]).replace('a court order', 'a short visit');
  const left = manifest.events.find((index) => textOf(files[`events/${index}.json`]).includes('"ReportViewed"'));
  const { [`events/${left}.json`]: _, [`events/${left}.tlog-proof`]: __, ...others } = files;
  const events = manifest.events.filter((index) => index !== left);
  const shorter = JSON.stringify({ ...manifest, events, eventsOfCase: manifest.eventsOfCase - 1 });
  const tampered = {
    'changed.zip': { ...files, [`${last}.json`]: Buffer.from(changed) },
    'shorter.zip': { ...others, 'manifest.json': Buffer.from(shorter) },
  };
  for (const [name, content] of Object.entries(tampered)) writeFileSync(join(folder, name), zipSync(content));
  writeFileSync(join(folder, 'cut.zip'), readFileSync(zip).subarray(0, -30));
  const log = join(service.dataDir, 'transparency');
  const reasons = {
    'case.zip': ['The case file holds.', 'holds'],
    'changed.zip': [`${last}.json is not in the tree`, 'is not in the tree'],
    'shorter.zip': [`The case file leaves out events of the case. The log has them at ${left}.`, 'other events'],
    'cut.zip': ['The zip is truncated or damaged.', 'refused: '],
  };
  for (const [name, [reason = '', inPython = '']] of Object.entries(reasons)) {
    const code = name === 'case.zip' ? 0 : 1;
    const own = await run(process.execPath, ['verify-case.mjs', name, '--log', log]);
    expect({ name, ...own }).toEqual({ name, code, text: expect.stringContaining(reason) });
    if (!hasPython) continue;
    const foreign = await run('python3', [PYTHON_VERIFIER, name, 'policy', log]);
    expect({ name, ...foreign }).toEqual({ name, code, text: expect.stringContaining(inPython) });
  }
  expect((await run(process.execPath, ['verify-case.mjs'])).code).toBe(2);
});
