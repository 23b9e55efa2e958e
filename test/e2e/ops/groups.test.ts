// What the operator command line answers to a group of commands when none of them is named.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runOperatorCommand } from '../../support/operator.js';
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

const ops = (...args: string[]) => runOperatorCommand(args, { DATA_DIR: dataDir, REDIS_URL: redis.url });

it.each(['accounts', 'webhooks', 'stream'])(
  'says that %s holds no such command, and which it holds, with exit code 1',
  async (group) => {
    const { exitCode, stdout, stderr } = await ops(group, 'nope', '--from', 'x');
    const [sentence, ...usage] = stderr.split('\n');
    expect([exitCode, stdout, sentence]).toEqual([1, '', `There is no command ${group} nope.`]);
    expect(usage.join('\n')).toMatch(new RegExp(`^\nUsage: .*${group} [^]*Commands:\n  \\w+`));
  },
);

it('shows what a group holds when no command is named, with exit code 1', async () => {
  const { exitCode, stdout, stderr } = await ops('webhooks');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
});

it.each(['--help', 'help'])('shows it on %s, with exit code 0', async (asking) => {
  const { exitCode, stdout, stderr } = await ops('webhooks', asking);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
});

it('refuses more arguments than a command takes, and shows its usage', async () => {
  const { exitCode, stdout, stderr } = await ops('person', 'erase', 'one', 'another');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^error: too many arguments for 'erase'[^]*Usage: ops person erase /);
});
