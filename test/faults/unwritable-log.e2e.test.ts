// Guarantee: a log that cannot be written neither stops the service from answering nor from ending.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service } from '../support/service.js';
import { until } from '../support/eventually.js';

/** A fault that nobody caught, whenever the process gets SIGUSR2. */
const FAULTY = `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a fault') }))")}`;
/** A pipe holds 64 kB; at level `trace` each of these is a line of more than 200 bytes. */
const REQUESTS = 500;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The reading end stays open with us, who never read. */
function pipeThatNobodyReads(): number {
  const path = join(folder, 'pipe');
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error('mkfifo failed');
  return openSync(path, 'r+');
}

describe.each<[string, () => number, boolean]>([
  ['a pipe that nobody reads', pipeThatNobodyReads, false],
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

  it('goes on answering, and an uncaught exception ends it', async () => {
    await answers();
    // What a stuck reader has not taken waits, up to a bound; what a full disk refuses is gone.
    if (full)
      expect(
        Number(/^log_lines_dropped_total (\d+)$/m.exec((await service.request('GET', '/metrics')).text)?.[1]),
      ).toBeGreaterThanOrEqual(REQUESTS);
    // An exit could wait for ever, with the lock of the log held, for a transaction that waits for it.
    expect(await service.program.end('SIGUSR2')).toBe('SIGKILL');
  });

  it('stops in order when it is told to', async () => {
    await service.startAgain();
    await answers();
    expect(await service.program.end('SIGTERM')).toBe(0);
    await until(
      'nothing answers',
      async () => (await service.request('GET', '/health/live').catch(() => null)) === null,
    );
  });
});
