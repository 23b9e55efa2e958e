// Guarantee: when its log cannot be written, the service still answers and can still end.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service } from '../support/service.js';
import { until } from '../support/eventually.js';

/** Throws an uncaught error when the process gets SIGUSR2. */
const FAULTY = `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault') }))")}`;
/** A pipe buffers 64 kB. At level `trace`, each of these requests logs a line of more than 200 bytes. */
const REQUESTS = 500;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** This process keeps the reading end of the pipe open and never reads. */
function pipeThatNobodyReads(): number {
  const path = join(folder, 'pipe');
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error('mkfifo failed');
  return openSync(path, 'r+');
}

describe.each<[string, () => number, boolean]>([
  ['a pipe without a reader', pipeThatNobodyReads, false],
  ['a file on a full disk', () => openSync('/dev/full', 'w'), true],
])('with standard output in %s, the service', (_, open, full) => {
  let output: number;
  let service: Service;
  beforeAll(async () => {
    output = open();
    service = await Service.start({ LOG_LEVEL: 'trace', NODE_OPTIONS: FAULTY }, { alone: ['service'], stdout: output });
  });
  afterAll(async () => {
    await service.stop();
    closeSync(output);
  });

  const answers = async (): Promise<void> => {
    for (let done = 0; done < REQUESTS; done += 50) {
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => service.request('GET', '/screening/none/status')),
      );
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    }
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
  };

  it('keeps answering requests, and an uncaught exception ends it', async () => {
    await answers();
    // Lines that a stuck reader has not read wait, up to a limit. Lines that a full disk refuses are lost.
    if (full)
      expect(
        Number(/^log_lines_dropped_total (\d+)$/m.exec((await service.request('GET', '/metrics')).text)?.[1]),
      ).toBeGreaterThanOrEqual(REQUESTS);
    // A normal exit could wait for ever for a transaction, and would keep the lock of the log all the time.
    expect(await service.program.end('SIGUSR2')).toBe('SIGKILL');
  });

  it('stops in order on SIGTERM', async () => {
    await service.startAgain();
    await answers();
    expect(await service.program.end('SIGTERM')).toBe(0);
    await until(
      'nothing answers',
      async () => (await service.request('GET', '/health/live').catch(() => null)) === null,
    );
  });
});
