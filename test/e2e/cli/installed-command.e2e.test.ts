// The command `screening` as integrators use it: installed from its tarball into an empty folder, beside a running service.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '../../support/eventually.js';
import { type Credentials, Service } from '../../support/service.js';

const run = promisify(execFile);
const OFFLINE = ['--offline', '--no-audit', '--no-fund'];

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

let service: Service;
let accounts: Credentials['accounts'];
let project: string;
let receiver: Server;
let hooks: string;
const received: Received[] = [];
let running: ChildProcess | null = null;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  project = await mkdtemp(join(tmpdir(), 'cli-package-'));
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'receiver', private: true }));
  const { stdout } = await run('npm', ['pack', resolve('packages/cli'), '--json', '--silent'], { cwd: project });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('npm', ['install', ...OFFLINE, `./${filename}`], { cwd: project });
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
});
afterEach(() => {
  running?.kill('SIGKILL');
  received.length = 0;
});
afterAll(async () => {
  receiver?.close();
  await service?.stop();
  await rm(project, { recursive: true, force: true });
});

const environment = (secretKey: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: project,
  SCREENING_URL: service.baseUrl,
  SCREENING_SECRET_KEY: secretKey,
});
const npx = (args: readonly string[], cwd = project, secretKey = accounts.demo.secretKey) =>
  run('npx', ['--no-install', 'screening', ...args], { cwd, env: environment(secretKey) });

/** Starts a command whose output can be read while it works. npx would hide the process that the signal must reach. */
function start(...args: string[]): { output: () => string; ended: Promise<number | null> } {
  let output = '';
  const child = spawn(process.execPath, [join(project, 'node_modules/.bin/screening'), ...args], {
    env: environment(accounts.demo.secretKey),
  });
  running = child;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  return { output: () => output, ended: new Promise((ended) => child.once('exit', ended)) };
}

describe('the installed command', () => {
  it('has no dependencies, and shows its help', async () => {
    const manifest = await readFile(join(project, 'node_modules/@screening-service/cli/package.json'), 'utf8');
    expect(JSON.parse(manifest).dependencies).toBeUndefined();
    expect((await npx(['--help'])).stdout).toContain('screening listen --forward <address>');
  });

  it('runs in the root of the repository too', async () => {
    expect((await npx(['--help'], resolve('.'))).stdout).toContain('screening listen --forward <address>');
  });

  it('listen forwards the events of an account and of its child, signed, until Ctrl-C', async () => {
    const { output, ended } = start('listen', '--forward', hooks);
    await until(`it listens:\n${output()}`, () => output().includes('Ctrl-C ends.'));
    const own = JSON.parse((await npx(['trigger', 'screening.completed'])).stdout);
    const data = JSON.stringify({ reason_code: 'TOO_MANY_ATTEMPTS' });
    const { secretKey } = accounts.child;
    const ofChild = JSON.parse(
      (await npx(['trigger', 'screening.blocked', '--data', data], project, secretKey)).stdout,
    );
    await until('both have arrived', () => received.length === 2);
    const [, secret = ''] = /^Secret of the signatures: (whsec_\S+)$/m.exec(output()) ?? [];
    const events = received.map(({ headers, body }) => new Webhook(secret).verify(body, headers) as { id: string });
    expect(events.sort((one, other) => (one.id === own.id ? -1 : Number(other.id === own.id)))).toEqual([own, ofChild]);
    for (const { id, type, account_id } of [own, ofChild])
      await until(`there is a line for ${id}`, () =>
        new RegExp(`  204  ${type}  ${id}  account ${account_id} `).test(output()),
      );
    running!.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(output()).toMatch(/\nEnded\. 2 events forwarded\.\n$/);
  });

  it('listen --after 0 --types forwards earlier events of these types again', async () => {
    await npx(['trigger', 'report.shared']);
    await npx(['trigger', 'report.revoked']);
    const { output, ended } = start('listen', '--forward', hooks, '--after', '0', '--types', 'report.revoked');
    await until('it has arrived', () => received.length > 0);
    running!.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(received.map(({ headers }) => headers['service-event-type'])).toEqual(['report.revoked']);
    expect(output()).not.toContain('report.shared');
  });

  it('resend forwards one event again, with the same id and body', async () => {
    const { secretKey, accountId } = accounts.child;
    const event = JSON.parse((await npx(['trigger', 'report.shared'], project, secretKey)).stdout);
    let sequence = 0;
    await until('it is in the feed', async () => {
      const { body } = await service.request('GET', '/v1/events', { headers: { 'x-secret-key': secretKey } });
      sequence = body.data.find((entry: any) => entry.event.id === event.id)?.sequence ?? 0;
      return sequence > 0;
    });
    const resend = (number: number) => npx(['resend', String(number), '--account', accountId, '--forward', hooks]);
    const { stdout } = await resend(sequence);
    expect(stdout).toContain(`  204  report.shared  ${event.id}  account ${accountId} sequence ${sequence}  `);
    expect(received.map(({ body }) => JSON.parse(body))).toEqual([event]);
    const beyond = await resend(sequence + 100).catch((error) => error);
    expect([beyond.code, beyond.stderr]).toEqual([1, `The feed has no event with the sequence ${sequence + 100}.\n`]);
  });

  it('without variables, the demo account of DATA_DIR is used', async () => {
    const env = { PATH: process.env['PATH'], HOME: project, DATA_DIR: service.dataDir };
    const { stdout } = await run('npx', ['--no-install', 'screening', 'trigger', 'report.shared'], {
      cwd: project,
      env,
    });
    const { accounts: demo } = JSON.parse(await readFile(join(service.dataDir, 'demo-credentials.json'), 'utf8'));
    expect(JSON.parse(stdout).account_id).toBe(demo.demo.accountId);
  });

  it('a wrong key is one sentence with exit code 1', async () => {
    const failed = await npx(['logs', 'tail'], project, 'sk_test_0123456789abcdef').catch((error) => error);
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/^The service at \S+ does not accept the secret key: .+\n$/),
    ]);
  });

  it('logs tail shows new requests as they are made, and not its own', async () => {
    const { output } = start('logs', 'tail', '--json');
    const missing = `/v1/screenings/${accounts.demo.accountId}/status`;
    const shown = (): string[] =>
      output()
        .split('\n')
        .filter(
          (line) => line.includes('"route":"/v1/screenings/:session_id/status"') && line.includes('"status":404'),
        );
    // The second request is in a later read than the first, so the tail would show its own first read.
    for (const round of [1, 2]) {
      await service.request('GET', missing, { headers: { 'x-secret-key': accounts.demo.secretKey } });
      await until(`request ${round} is shown:\n${output()}`, () => shown().length >= round);
    }
    expect(output()).not.toContain('"/v1/requests"');
  });
});
