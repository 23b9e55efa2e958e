// The sandbox as a process: how it starts, stops and dies, as main.ts promises.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, expect, it } from '@jest/globals';
import { IdvCreditBureau } from '../../../src/vendors/idv/credit.js';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { VoieIncomeVendor } from '../../../src/vendors/voie/income.js';
import type { VendorCall } from '../../../src/ports/identity-vendor.js';
import { RIGHT_CODE, newCall, person } from './suite.js';
import { until } from '../../support/eventually.js';
import { ofSession } from '../../support/subjects.js';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-process-'));
const MAIN = ['dist/sandbox/main.js'];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
});

afterAll(() => rmSync(folder, { recursive: true }));

async function start(
  env: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; url: string; firstLine: Record<string, unknown> }> {
  const child = spawn(process.execPath, MAIN, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  const firstLine = JSON.parse(line) as Record<string, unknown>;
  return { child, url: String(firstLine.url), firstLine };
}

/** Resolves with the exit code, or null if a signal ended the process. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exit)[0];
}

function adapter(baseUrl: string, credential: string): IdvIdentityVendor {
  return new IdvIdentityVendor({ baseUrl, credential, timeoutMs: 5_000 });
}

it('the sandbox prints in one line that it listens, and the address', async () => {
  const { child, url, firstLine } = await start({ SANDBOX_PORT: '0', DATA_DIR: mkdtempSync(join(folder, 'data-')) });
  expect(firstLine).toEqual({
    level: 'info',
    msg: 'sandbox listening',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    pid: child.pid,
  });
  const vendor = adapter(url, 'sandbox-vendor-key');
  expect(await vendor.register(newCall(), person('Smith'))).toMatchObject({ kind: 'confirmed' });
  await vendor.close();
});

it('the sandbox plays every vendor in one process: the income vendor knows the persons that the identity vendor confirmed', async () => {
  const { url } = await start({ SANDBOX_PORT: '0', DATA_DIR: mkdtempSync(join(folder, 'data-')) });
  const options = { baseUrl: url, credential: 'sandbox-vendor-key', timeoutMs: 5_000 };
  const [identity, bureau, income] = [
    new IdvIdentityVendor(options),
    new IdvCreditBureau(options),
    new VoieIncomeVendor(options),
  ];
  const registered = await identity.register(newCall(), person('Noincometest'));
  if (registered.kind !== 'confirmed') throw new Error(`expected a confirmation, got ${registered.kind}`);
  expect(await bureau.pullReport(newCall(), ofSession(registered.vendorSession))).toMatchObject({ kind: 'report' });
  const started = await income.start(newCall(), 'PAYROLL', ofSession(registered.vendorSession));
  if (started.kind !== 'started') throw new Error(`expected an inquiry, got ${started.kind}`);
  let outcome = await income.outcomeOf(newCall(), started.inquiry);
  expect(outcome).toEqual({ kind: 'in-progress' });
  await until('the inquiry has ended', async () => {
    outcome = await income.outcomeOf(newCall(), started.inquiry);
    return outcome.kind !== 'in-progress';
  });
  expect(outcome).toEqual({ kind: 'failed', reason: 'NO_MATCH' });
  await Promise.all([identity.close(), bureau.close(), income.close()]);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'the sandbox stops on %s even if a client still waits for an answer',
  async (signal) => {
    const { child, url } = await start({
      SANDBOX_PORT: '0',
      DATA_DIR: mkdtempSync(join(folder, 'data-')),
      SANDBOX_API_KEY: 'other-key',
    });
    const vendor = adapter(url, 'other-key');
    const call = newCall();
    const waiting = vendor.register(call, person('Timeouttest'));
    const received = async (): Promise<number> =>
      ((await (await fetch(`${url}/control/calls?key=${call.attemptId}`)).json()) as { received: number }).received;
    await until('the vendor was asked', async () => (await received()) > 0);
    expect(await end(child, signal)).toBe(0);
    expect(await waiting).toEqual({ kind: 'timed-out' });
    await vendor.close();
  },
);

it('the sandbox ends with a message when it cannot listen', async () => {
  const { url } = await start({ SANDBOX_PORT: '0', DATA_DIR: mkdtempSync(join(folder, 'data-')) });
  const second = spawn(process.execPath, MAIN, {
    env: { SANDBOX_PORT: new URL(url).port, DATA_DIR: mkdtempSync(join(folder, 'data-')) },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(second);
  const [line] = (await once(createInterface(second.stderr!), 'line')) as [string];
  expect(JSON.parse(line)).toMatchObject({
    level: 'fatal',
    msg: 'the sandbox cannot start',
    error: expect.stringContaining('EADDRINUSE'),
  });
  expect(second.exitCode ?? (await once(second, 'exit'))[0]).toBe(1);
});

it('the sandbox remembers every answered call when it is killed under load', async () => {
  const env = { SANDBOX_PORT: '0', DATA_DIR: mkdtempSync(join(folder, 'data-')) };
  const answered = new Map<VendorCall, string>();
  for (let round = 0; round < 3; round += 1) {
    const { child, url } = await start(env);
    const vendor = adapter(url, 'sandbox-vendor-key');
    const before = answered.size;
    let killed = false;
    const client = async (): Promise<void> => {
      while (!killed) {
        const call = newCall();
        const verdict = await vendor.register(call, person('Otptest'));
        if (verdict.kind === 'step-up') answered.set(call, verdict.vendorSession);
        if (answered.size - before >= 100 && !killed) {
          killed = true;
          child.kill('SIGKILL');
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    await end(child, 'SIGKILL');
    await vendor.close();
  }
  const { url } = await start(env);
  const vendor = adapter(url, 'sandbox-vendor-key');
  expect(answered.size).toBeGreaterThanOrEqual(300);
  for (const [call, vendorSession] of answered) {
    expect(await vendor.outcomeOf(call)).toMatchObject({
      kind: 'registration',
      verdict: { kind: 'step-up', vendorSession },
    });
  }
  const [, lastSession = ''] = [...answered].at(-1) ?? [];
  expect(await vendor.verifyOtp(newCall(), lastSession, RIGHT_CODE)).toMatchObject({ kind: 'confirmed' });
  const counts = (await (await fetch(`${url}/control/calls`)).json()) as {
    executedTwice: string[];
    receivedTwice: string[];
  };
  expect([counts.executedTwice, counts.receivedTwice]).toEqual([[], []]);
  await vendor.close();
});
