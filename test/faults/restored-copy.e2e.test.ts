// Backups of a service under load. A restored copy shows all data, changes nothing and makes no calls. Persons who were
// erased after the backup stay erased in the copy.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/config/config.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { Backups } from '../../src/ops/backups.js';
import { verifyLog } from '../../src/platform/audit/verify.js';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { RedisServer } from '../support/redis.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

const BACKUPS = 3;
const CALLERS = 3;

let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let caller: PlatformCaller;
let owner: EndpointOwner;
let folder: string;
let ownRedis: RedisServer;

beforeAll(async () => {
  const authority = new CertificateAuthority();
  [receiver, trust, folder, ownRedis] = await Promise.all([
    HttpsReceiver.start({ authority }),
    trustFile(authority),
    mkdtemp(join(tmpdir(), 'restored-')),
    RedisServer.start(),
  ]);
  service = await Service.start({
    VENDOR_TIMEOUT: '5',
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: trust.file,
    WEBHOOK_RETRY_LADDER: Array(60).fill(1).join(),
    LOG_LEVEL: 'warn',
  });
  caller = await service.signIn('nopay');
  owner = new EndpointOwner(service, (await service.credentials()).accounts.nopay);
});
afterAll(async () => {
  await service?.stop();
  vendors.close();
  await Promise.all([receiver?.close(), ownRedis?.stop()]);
  for (const path of [folder, trust?.folder]) if (path) await rm(path, { recursive: true, force: true });
});

const refused = ({ status, body }: Reply): [number, string, string] => [
  status,
  body?.error?.code,
  body?.error?.message,
];
const READ_ONLY = [503, 'SERVICE_UNAVAILABLE', 'This is a restored copy that can only be read.'];
const lines = (text: string): any[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/**
 * Stands in for the sandbox. The server counts every request to a vendor, including questions about earlier calls, and
 * answers none.
 */
class DeadVendors {
  calls = 0;
  private readonly server = createServer((request, response) => {
    // The test itself sent this request to see whether the server runs.
    if (request.url === '/control/calls') return void response.end('{}');
    this.calls += 1;
    response.writeHead(503).end();
  });

  async listen(port: number): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const vendors = new DeadVendors();

/** Starts a service on a restored folder instead of the original, with a Redis of its own. */
async function startOn(dataDir: string, ROLE: string): Promise<void> {
  await service.startAgain({ DATA_DIR: dataDir, REDIS_URL: ownRedis.url, ROLE });
}

describe('a service under load', () => {
  /** The newest copy is last. */
  const backups: { readonly path: string; readonly before: readonly string[] }[] = [];
  const acknowledged: string[] = [];
  let erased: string;
  let kept: string;

  it(`is backed up ${BACKUPS} times: every copy passes verification and has every change that was acknowledged before`, async () => {
    const stop = new AbortController();
    const loads = Array.from({ length: CALLERS }, async () => {
      while (!stop.signal.aborted) {
        const { status, body } = await caller.submit(aPerson());
        if (status === 200) acknowledged.push(body.id);
      }
    });
    await until('there is load', () => acknowledged.length > 30);
    [erased, kept] = acknowledged as [string, string];
    for (const id of [erased, kept]) expect((await caller.get(`/reports/${id}`)).status).toBe(200);
    // From now on every delivery stays under way. One vendor call has no verdict for a minute.
    await owner.register(receiver.url('/hang'));
    let unsettled: Promise<Reply> | null = null;
    for (let count = 1; count <= BACKUPS; count++) {
      if (count === BACKUPS) {
        unsettled = caller.submit(aPerson({ lastName: 'Timeouttest' }));
        await until('a delivery waits', async () => (await owner.deliveries({ status: 'pending' })).length > 0);
      }
      const before = [...acknowledged];
      const { exitCode, stdout } = await service.ops('backup', 'create', folder);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('"backup"')]);
      backups.push({ path: lines(stdout)[0].backup, before });
    }
    stop.abort();
    await Promise.all(loads);
    await unsettled;
    for (const { path, before } of backups) {
      await new Backups(readConfig(service.env, { tools: true }), new SystemClock()).inspect(
        path,
        async (log, _vault, { checkpoint }) => {
          expect(before.length).toBeGreaterThan(30);
          expect(checkpoint.events).toBeGreaterThan(3 * before.length);
          const present = await Promise.all(
            before.map(async (id) => (await log.readStream(`screening-${id}`)).length > 0),
          );
          expect(present.filter((there) => !there)).toEqual([]);
          expect(await verifyLog(log, { onFault: () => undefined })).toMatchObject({ faults: 0 });
        },
      );
    }
    const verified = await service.ops('backup', 'verify', backups[0]!.path);
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });

  it('is restored as a read-only copy that keeps later erasures and makes no calls until it is released', async () => {
    expect((await service.ops('person', 'erase', erased)).exitCode).toBe(0);
    expect((await caller.get(`/reports/${erased}`)).status).toBe(410);
    const { path } = backups.at(-1)!;
    const to = join(folder, 'copy');
    const ledger = join(service.dataDir, 'erasures.jsonl');
    const restored = await service.ops('backup', 'restore', path, '--to', to, '--ledger', ledger);
    expect([restored.exitCode, restored.stdout]).toEqual([0, expect.stringContaining('"erased":1')]);
    await service.program.end('SIGTERM');
    await service.sandbox.end('SIGTERM');
    await vendors.listen(Number(new URL(service.sandboxUrl).port));
    const delivered = receiver.requests.length;

    service.program.output = '';
    await expect(startOn(to, 'all')).rejects.toThrow('ROLE must be investigation, because DATA_DIR is a restored copy');
    await startOn(to, 'investigation');
    // Requests that only read.
    expect((await service.signIn('nopay')).headers.authorization).toMatch(/^Bearer /);
    expect((await caller.status(kept)).body).toMatchObject({ id: kept, status: 'VERIFIED' });
    expect(refused(await caller.get(`/reports/${erased}`)).slice(0, 2)).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    // The copy shows no report, because it cannot record the reader.
    expect(refused(await caller.get(`/reports/${kept}`))).toEqual(READ_ONLY);
    await until('the deliveries are listed', async () => (await owner.deliveries({ status: 'pending' })).length > 0);
    // Requests that change data.
    const attempts = [
      caller.submit(aPerson()),
      owner.ping(),
      owner.request('DELETE', `/${owner.endpointId}`),
      service.request('POST', '/internal/processor/events', { body: {} }),
    ];
    expect((await Promise.all(attempts)).map(refused)).toEqual(attempts.map(() => READ_ONLY));
    // A GET request that changes data.
    const { status, body } = await service.request('GET', '/api/idv/agents/a/auth/expire');
    expect([status, body.errors]).toEqual([503, [{ errorCode: 130, errorOnField: null, errorMessage: READ_ONLY[2] }]]);
    expect(await service.ops('person', 'erase', kept)).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(/^This is a restored copy that can only be read;/),
    });
    // Operator commands.
    const timeline = await service.ops('timeline', erased);
    expect([timeline.exitCode, timeline.stdout]).toEqual([0, expect.stringContaining('"ScreeningSubmitted"')]);
    expect((await service.ops('audit', 'verify')).exitCode).toBe(0);
    expect([receiver.requests.length, vendors.calls]).toEqual([delivered, 0]);

    await service.program.end('SIGTERM');
    expect(
      (await service.ops('backup', 'release', to, '--ledger', ledger, '--reason', 'the other one is gone')).exitCode,
    ).toBe(0);
    await startOn(to, 'all');
    await until('the pending delivery is sent', () => receiver.requests.length > delivered);
    await until('the vendor is asked about the open call', () => vendors.calls > 0);
    expect((await caller.get(`/reports/${erased}`)).status).toBe(410);
    expect((await caller.get(`/reports/${kept}`)).status).toBe(200);
  });
});
