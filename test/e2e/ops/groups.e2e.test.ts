// The answers of the operator command line to the name of a group without a command.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
  'the command line says that %s has no such command, and lists the commands, with exit code 1',
  async (group) => {
    const { exitCode, stdout, stderr } = await ops(group, 'nope', '--from', 'x');
    const [sentence, ...usage] = stderr.split('\n');
    expect([exitCode, stdout, sentence]).toEqual([1, '', `There is no command ${group} nope.`]);
    expect(usage.join('\n')).toMatch(new RegExp(`^\nUsage: .*${group} [^]*Commands:\n  \\w+`));
  },
);

it('the command line lists the commands of a group without a command, with exit code 1', async () => {
  const { exitCode, stdout, stderr } = await ops('webhooks');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
});

it.each(['--help', 'help'])(
  'the command line lists the commands of a group on %s, with exit code 0',
  async (asking) => {
    const { exitCode, stdout, stderr } = await ops('webhooks', asking);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: .*webhooks [^]*Commands:\n {2}backlog/);
  },
);

it('the command line refuses more arguments than a command takes, and shows its usage', async () => {
  const { exitCode, stdout, stderr } = await ops('person', 'erase', 'one', 'another');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^error: too many arguments for 'erase'[^]*Usage: ops person erase /);
});

describe('the groups of operator commands', () => {
  const files = readdirSync('src/ops').filter((file) => /\.commands?\.ts$/.test(file));
  const namesIn = (file: string, pattern: RegExp): string[] =>
    [...readFileSync(join('src/ops', file), 'utf8').matchAll(pattern)].map(([, name = '']) => name);
  const commands = files.flatMap((file) => namesIn(file, /^export class (\w+Command) extends (?!CommandGroup)/gm));
  // Lists for each group the commands that its file sends over the CommandBus.
  const declared = files.flatMap((file) =>
    namesIn(file, /@Command\(\{\s*name: '([\w-]+)'/g).map((group) => ({
      group,
      file,
      sent: namesIn(file, /\.execute\(\s*new (\w+)/g),
    })),
  );
  let made: Record<string, { commands: string[]; handled: string[] }>;
  let libraries: string[];
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ops-made-'));
    const groups = declared.map(({ group }) => group);
    const { stdout } = await promisify(execFile)(process.execPath, ['test/support/ops-groups.mjs', folder, ...groups], {
      env: { PATH: process.env['PATH'] ?? '' },
      maxBuffer: 64 * 1024 * 1024,
    });
    rmSync(folder, { recursive: true });
    ({ libraries, ...made } = JSON.parse(stdout));
  });

  it('have every command, and a module of the group has a handler for each of its use cases', () => {
    const missing = declared.flatMap(({ group, sent }) => sent.filter((name) => !made[group]?.handled.includes(name)));
    expect(missing).toEqual([]);
    expect([...new Set(Object.values(made).flatMap((group) => group.commands))].sort()).toEqual(commands.sort());
    // These groups are known to send commands. The check therefore fails when the pattern above no longer matches.
    expect(declared.filter(({ sent }) => sent.length > 0).map(({ group }) => group)).toEqual(
      expect.arrayContaining(['accounts', 'keys', 'person', 'webhooks']),
    );
  });

  it('load no library of the routes', () => {
    expect(libraries.some((file) => /\/node_modules\/ioredis\//.test(file))).toBe(true);
    expect(libraries.filter((file) => /\/node_modules\/(?:fastify|class-validator|passport)/.test(file))).toEqual([]);
  });
});
