// What the operator command line answers to a group of commands when none of them is named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisServer } from '../../support/redis.js';

let redis: RedisServer;
const dataDir = mkdtempSync(join(tmpdir(), 'ops-groups-'));

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(async () => {
  await redis.stop();
  rmSync(dataDir, { recursive: true });
});

async function ops(
  ...args: string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, ['dist/src/ops/main.js', ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, REDIS_URL: redis.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

it.each(['accounts', 'webhooks', 'stream'])(
  'says that %s holds no such command, and which it holds, with exit code 1',
  async (group) => {
    const { code, stdout, stderr } = await ops(group, 'nope', '--from', 'x');
    const [sentence, ...usage] = stderr.split('\n');
    expect([code, stdout, sentence]).toEqual([1, '', `There is no command ${group} nope.`]);
    expect(usage.join('\n')).toMatch(new RegExp(`^\nUsage: .*${group} [^]*Commands:\n  \\w+`));
  },
);

it('shows what a group holds when no command is named, with exit code 1', async () => {
  const { code, stdout, stderr } = await ops('webhooks');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
});

it.each(['--help', 'help'])('shows it on %s, with exit code 0', async (asking) => {
  const { code, stdout, stderr } = await ops('webhooks', asking);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
});

it('refuses more arguments than a command takes, and shows its usage', async () => {
  const { code, stdout, stderr } = await ops('person', 'erase', 'one', 'another');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^error: too many arguments for 'erase'[^]*Usage: ops person erase /);
});
