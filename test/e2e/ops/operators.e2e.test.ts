// Operators get keys, ask each other for approvals, and sign them.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { type CommandResult, runOperatorCommand } from '../../support/operator.js';

const folder = mkdtempSync(join(tmpdir(), 'ops-operators-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Ops = (...args: string[]) => Promise<CommandResult>;
const as =
  (name: string): Ops =>
  (...args) =>
    runOperatorCommand(args, {
      DATA_DIR: join(folder, 'data'),
      REDIS_URL: 'redis://127.0.0.1:1',
      OPERATOR: name,
    });
const [ann, bob] = [as('ann'), as('bob')];
const keyOf = (name: string): string => join(folder, `${name}.pem`);
const add = (operator: Ops, name: string, ...options: string[]): Promise<CommandResult> =>
  operator('operators', 'add', name, '--key-to', keyOf(name), ...options);
const rowsOf = ({ stdout }: CommandResult): any[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const ask = async (subject: string): Promise<string> => {
  const file = join(folder, `${subject}.request`);
  const options = ['--reason', 'a colleague', '--key', keyOf('ann')];
  const { exitCode, stdout, stderr } = await ann('operators', 'request', 'operators add', subject, ...options);
  expect([exitCode, stderr]).toEqual([0, '']);
  writeFileSync(file, stdout);
  return file;
};

it('operators get keys, and a third key needs an act that one requests and another approves', async () => {
  for (const [operator, name] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const) {
    expect(await add(operator, name)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(statSync(keyOf(name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyOf(name), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  }
  const alone = await add(ann, 'cy');
  expect([alone.exitCode, alone.stderr]).toEqual([1, expect.stringMatching(/^This needs a second operator\./)]);
  // The key of a refused command is not left.
  expect(() => statSync(keyOf('cy'))).toThrow('ENOENT');

  const request = await ask('cy');
  const own = await ann('operators', 'sign', request, '--key', keyOf('ann'));
  expect([own.exitCode, own.stderr]).toEqual([1, 'An operator cannot approve an act of their own.\n']);
  const signed = await bob('operators', 'sign', request, '--key', keyOf('bob'));
  expect([signed.exitCode, signed.stderr]).toEqual([
    0,
    expect.stringMatching(
      /^You approve operators add cy, which ann requested until \S+ with the reason: a colleague\n$/,
    ),
  ]);
  const approval = join(folder, 'approval');
  writeFileSync(approval, signed.stdout);
  const approved = ['--reason', 'a colleague', '--approved-by', 'bob', '--approval', approval] as const;
  expect((await add(bob, 'cy', ...approved)).stderr).toMatch(/bob cannot use it/);
  expect(await add(ann, 'cy', ...approved)).toMatchObject({ exitCode: 0, stderr: '' });

  expect(rowsOf(await ann('operators', 'list'))).toEqual(
    ['ann', 'bob', 'cy'].map((operator) => ({
      operator,
      publicKey: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      addedAt: expect.any(String),
      addedBy: operator === 'bob' ? 'bob' : 'ann',
      revokedAt: null,
    })),
  );
  const events = rowsOf(await ann('stream', 'show', 'operator_keys-installation'));
  expect(events.map(({ type }) => type)).toEqual([
    'OperatorKeyAdded',
    'OperatorKeyAdded',
    'OperatorActApproved',
    'OperatorKeyAdded',
  ]);
  expect(events[2].data).toEqual(JSON.parse(signed.stdout));
  expect(JSON.stringify(events)).not.toContain('PRIVATE');

  const alsoAlone = await ann('operators', 'revoke', 'cy');
  expect([alsoAlone.exitCode, alsoAlone.stderr]).toEqual([1, expect.stringMatching(/^This needs a second operator\./)]);
});

it.each<[string, (request: string) => Promise<CommandResult>, RegExp]>([
  [
    'a request with the key of another operator',
    () => bob('operators', 'request', 'operators add', 'dan', '--reason', 'x', '--key', keyOf('ann')),
    /The key belongs to ann, and you are bob/,
  ],
  [
    'a request for an act that needs no approval',
    () => ann('operators', 'request', 'timeline', 'dan', '--reason', 'x', '--key', keyOf('ann')),
    /The act must be one of hold release, operators add, operators revoke/,
  ],
  [
    'a request that lasts too long',
    () => ann('operators', 'request', 'operators add', 'dan', '--reason', 'x', '--key', keyOf('ann'), '--hours', '169'),
    /--hours must be from 1 to 168/,
  ],
  [
    'a key that others may read',
    async () => {
      writeFileSync(join(folder, 'open.pem'), readFileSync(keyOf('bob')), { mode: 0o644 });
      return bob('operators', 'sign', await ask('dan'), '--key', join(folder, 'open.pem'));
    },
    /Only you may read the key of --key. Run chmod 600 /,
  ],
  [
    'a file that is not a request',
    () => bob('operators', 'sign', keyOf('bob'), '--key', keyOf('bob')),
    /must have one JSON object/,
  ],
  ['an approval without its operator', () => add(ann, 'dan', '--approval', 'x'), /Give --approved-by with --approval/],
  ['an existing file for the key', () => add(ann, 'bob'), /The file of --key-to cannot be made/],
  ['a name with a space', () => add(ann, 'dan roe'), /The name must be 1 to 64 letters/],
])('refuses %s', async (_what, refused, message) => {
  const { exitCode, stderr } = await refused('');
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(message)]);
});
