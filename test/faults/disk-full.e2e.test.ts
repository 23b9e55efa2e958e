// Guarantee: a full disk loses no acknowledged change and leaves no process stuck. Writes are refused, and resume by
// themselves when the disk has room again. The data folder, the folder of Redis and the log file of the service share a
// small file system.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALONE, type PlatformCaller, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

/**
 * A user who may not mount file systems, as in most containers, has no small disk to fill. Other suites test without a
 * small disk how the stores refuse writes.
 */
const mountable = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'mountable-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();
if (!mountable) process.stderr.write('A full disk is not tested: this user may not mount a tmpfs.\n');

(mountable ? describe : describe.skip)('a full disk', () => {
  let disk: string;
  let service: Service;
  let nopay: PlatformCaller;
  const mounted: string[] = [];
  const mount = (target: string, ...args: string[]): void => {
    execFileSync('mount', [...args, target]);
    mounted.unshift(target);
  };
  const onTheDisk =
    (name: string) =>
    async (folder: string): Promise<void> => {
      mkdirSync(join(disk, name));
      mount(folder, '--bind', join(disk, name));
    };

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'small-disk-'));
    mount(disk, '-t', 'tmpfs', '-o', 'size=96m', 'tmpfs');
    const log = openSync(join(disk, 'service.log'), 'a');
    service = await Service.start(
      { LOG_LEVEL: 'trace' },
      { stored: { data: onTheDisk('data'), redis: onTheDisk('redis') }, alone: ALONE, stdout: log },
    );
    closeSync(log);
    nopay = await service.signIn('nopay');
  });
  afterAll(async () => {
    // A process that still runs keeps its open files.
    for (const target of mounted) execFileSync('umount', ['--lazy', target]);
    await service.stop();
    rmSync(disk, { recursive: true, force: true });
  });

  const ready = async (): Promise<{ status: number; checks: Record<string, string> }> => {
    const { status, body } = await service.request('GET', '/health/ready');
    return { status, checks: body.checks };
  };
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await service.request('GET', '/metrics')).text)?.[1]);
  const reserved = (): number => statSync(join(service.dataDir, 'reserve'), { throwIfNoEntry: false })?.size ?? 0;
  /** Writes until the disk has no space for another byte. */
  const fill = (): void => {
    const filler = openSync(join(disk, 'filler'), 'a');
    try {
      for (let size = 1_000_000; size >= 1;) {
        try {
          writeSync(filler, Buffer.alloc(size, 1));
        } catch {
          size = Math.floor(size / 10);
        }
      }
    } finally {
      closeSync(filler);
    }
  };

  it('refuses writes, still answers reads, gives the reason, and resumes by itself without loss of an acknowledged change', async () => {
    await until('there is a reserve', () => reserved() === 16_000_000);
    expect(await metric('data_disk_free_bytes')).toBeGreaterThan(16_000_000);
    const acknowledged: string[] = [];
    for (let count = 0; count < 20; count++) acknowledged.push((await nopay.submit()).body.id);
    const [first] = acknowledged as [string];
    expect((await nopay.get(`/reports/${first}`)).status).toBe(200);

    fill();
    await until('the reserve is given away', () => reserved() === 0);
    expect((await ready()).checks).toMatchObject({ disk: 'failing' });
    const redis = service.redis.client();
    await until('not even Redis can write', async () => {
      fill();
      for (const { status, body } of await Promise.all(Array.from({ length: 10 }, () => nopay.submit())))
        expect([status, body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      return redis.set('probe', '1').then(
        () => false,
        (error: Error) => error.message.startsWith('MISCONF'),
      );
    });
    for (const id of acknowledged) expect((await nopay.status(id)).body).toMatchObject({ id, status: 'VERIFIED' });
    // The log must record every reader of a report. A full disk prevents this record.
    expect((await nopay.get(`/reports/${first}`)).status).toBe(503);
    expect((await ready()).status).toBe(503);
    expect((await service.request('GET', '/health/live')).status).toBe(200);
    expect(await metric('data_disk_free_bytes')).toBeLessThan(16_000_000);
    expect(await metric('log_lines_dropped_total')).toBeGreaterThan(0);

    rmSync(join(disk, 'filler'));
    await until('it is ready', async () => (await ready()).status === 200);
    await until('people are screened again', async () => {
      const { status, body } = await nopay.submit();
      if (status === 200) acknowledged.push(body.id);
      return status === 200 && body.status === 'VERIFIED';
    });
    for (const id of acknowledged) {
      expect((await nopay.status(id)).body).toMatchObject({ id, status: 'VERIFIED' });
      expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
    }
    await until('there is a reserve again', () => reserved() === 16_000_000);
    expect([service.program.running, service.sandbox.running]).toEqual([true, true]);
    const log = readFileSync(join(disk, 'service.log'), 'utf8');
    expect(log).toMatch(/"level":"warn".*the disk of the data folder is getting full/);
    expect(log).toMatch(/"level":"error".*the disk of the data folder is full/);
    expect(log).toMatch(/the disk of the data folder has room again/);
    expect(log).not.toMatch(/unhandled rejection|uncaught exception/);
    const verified = await service.ops('audit', 'verify');
    expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });
});
