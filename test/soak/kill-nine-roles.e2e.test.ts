// Under load, kill -9 ends one process after another of a service with several processes. The signal also ends the
// parent process that starts them again. The other processes continue, and every acknowledged screening is in the log.
// No vendor call runs twice, and every event is delivered.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { screeningPublisher } from '../../src/modules/screening/application/publish.js';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { ALONE, aPerson, type PlatformCaller, Service } from '../support/service.js';
import { follows, sessionEvents, unsettled } from '../support/sessions-in-log.js';

const CALLERS = 12;
const KILLED = ['api', 'worker', 'projector'] as const;

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let caller: PlatformCaller;
let owner: EndpointOwner;
beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start(
    {
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
      NODE_EXTRA_CA_CERTS: trust.file,
      WEBHOOK_TIMEOUT: '2',
      WEBHOOK_RETRY_LADDER: Array(30).fill(1).join(),
      VENDOR_TIMEOUT: '2',
      STEP_UP_TTL: '3600',
    },
    { alone: ALONE, roles: ['projector', 'worker', 'worker', 'api', 'api'] },
  );
  caller = await service.signIn('nopay');
  owner = new EndpointOwner(service, (await service.credentials()).accounts.nopay);
  await owner.register(receiver.url('/nopay'));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});

/** The last status that the service answered for each session. */
const acknowledged = new Map<string, string>();

async function load(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const lastName = Math.random() < 0.5 ? 'Example' : 'Otptest';
      const { status, body } = await caller.submit(aPerson({ lastName }));
      if (status !== 200) continue;
      acknowledged.set(body.id, body.status);
      if (lastName !== 'Otptest') continue;
      const answer = await caller.post(`/screening/${body.id}/otp`, { code: '123456' });
      if (answer.status === 200) acknowledged.set(body.id, answer.body.status);
    } catch {
      // The process with the request was killed. The process acknowledged nothing, and the request may have had any
      // effect.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function untilMore(count: number): Promise<void> {
  const before = acknowledged.size;
  await until('more was acknowledged', () => acknowledged.size >= before + count);
}

const pidsOf = (role: (typeof KILLED)[number]): number[] => service.processesOf(role).map(({ pid }) => pid);

it('the service loses nothing, makes no vendor call twice and delivers every event', async () => {
  const stop = new AbortController();
  const loads = Array.from({ length: CALLERS }, () => load(stop.signal));
  for (const role of KILLED) {
    await untilMore(20);
    const before = pidsOf(role);
    const victim = before[Math.floor(Math.random() * before.length)] as number;
    process.kill(victim, 'SIGKILL');
    await untilMore(20);
    await until(
      `there is another ${role}`,
      () => pidsOf(role).length === before.length && !pidsOf(role).includes(victim),
    );
  }
  await untilMore(20);
  await service.kill9();
  stop.abort();
  await Promise.all(loads);
  // A process ends when its parent has ended.
  for (const pid of [...pidsOf('projector'), ...pidsOf('worker'), ...pidsOf('api')])
    await until('no process is left', () => !isAlive(pid));
  await service.startAgain();

  for (const [id, status] of acknowledged) {
    const now = await caller.status(id);
    expect([id, now.status, status, follows(status, now.body.status)]).toEqual([id, 200, status, true]);
  }
  await until('no attempt is without a verdict', async () => (await unsettled(service.dataDir)).length === 0);
  const calls = await (await fetch(`${service.sandboxUrl}/control/calls`)).json();
  expect(calls).toMatchObject({ receivedTwice: [] });
  const told = (await sessionEvents(service.dataDir)).filter(({ type }) => screeningPublisher.types.has(type)).length;
  expect(told).toBeGreaterThanOrEqual(acknowledged.size);
  await until('all are delivered', async () => (await owner.deliveries({ status: 'succeeded' })).length >= told);
  await owner.expectAllAccountedFor(receiver.requests, told, KILLED.length + 1);
  const audit = await service.ops('audit', 'verify');
  expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
