// An operator must give a reason before a permanent change. In production the command also needs a confirmation.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CommandResult, runOperatorCommand } from '../../support/operator.js';
import { productionHere } from '../../support/production.js';
import { RedisServer } from '../../support/redis.js';

let redis: RedisServer;
let production: Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), 'ops-consent-'));

beforeAll(async () => {
  redis = await RedisServer.start();
  production = await productionHere();
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

type Ops = (...args: string[]) => Promise<CommandResult>;
const inProduction: Ops = (...args) =>
  runOperatorCommand(args, {
    ...production,
    DATA_DIR: join(folder, 'production'),
    REDIS_URL: redis.url,
    OPERATOR: 'j.doe',
  });
const inDevelopment: Ops = (...args) =>
  runOperatorCommand(args, { DATA_DIR: join(folder, 'development'), REDIS_URL: redis.url });

const first = ({ stdout }: CommandResult): any => JSON.parse(stdout.split('\n', 1)[0] ?? '');

async function accountIn(ops: Ops): Promise<string> {
  return first(await ops('accounts', 'create', '--name', 'Acme Homes')).accountId;
}

const ID = '01234567-89ab-7cde-8f01-23456789abcd';
const CHANGES: readonly (readonly string[])[] = [
  ['person', 'erase', ID],
  ['person', 'erase-income', ID],
  ['person', 'erase-party', ID, 'test', 'organization', 'acme'],
  ['person', 'unblock', ID],
  ['keys', 'issue', ID, '--kind', 'secret', '--environment', 'live'],
  ['keys', 'set', ID, '--origins', 'https://app.example.com'],
  ['keys', 'deactivate', ID],
  ['accounts', 'credit', 'ACCOUNT', '--add', '5'],
  [
    ...['accounts', 'certify', ID, '--purposes', 'TENANT_SCREENING', '--text', import.meta.filename],
    ...['--by', 'user_17', '--until', '2099-01-01T00:00:00Z'],
  ],
];

describe('in production', () => {
  it('opens accounts that must certify their purposes, unless the operator says otherwise', async () => {
    const create = ['accounts', 'create', '--name', 'Acme Homes'];
    const opened = [
      await inProduction(...create),
      await inProduction(...create, '--require-purpose', 'no'),
      await inDevelopment(...create),
    ];
    expect(opened.map((result) => first(result).purposeRequired)).toEqual([true, false, false]);
  });

  it.each(CHANGES)('refuses %s %s without a reason or without a confirmation, and makes no change', async (...args) => {
    const account = args.includes('ACCOUNT') ? await accountIn(inProduction) : ID;
    const command = args.map((arg) => (arg === 'ACCOUNT' ? account : arg));
    const unreasoned = await inProduction(...command, '--yes');
    expect([unreasoned.exitCode, unreasoned.stdout]).toEqual([1, '']);
    expect(unreasoned.stderr).toMatch(/^This will .+\. In production it needs --reason <text>\.\n$/);
    const unconfirmed = await inProduction(...command, '--reason', 'ticket 4711');
    expect([unconfirmed.exitCode, unconfirmed.stdout]).toEqual([1, '']);
    expect(unconfirmed.stderr).toMatch(/^This would .+\. Nothing was changed: production needs --yes/);
  });

  it.each([
    ['audit', 'accept'],
    ['backup', 'accept-ledger'],
  ])('refuses %s %s without a confirmation', async (...args) => {
    const { exitCode, stderr } = await inProduction(...args, '--reason', 'ticket 4711');
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^This would .+ production needs --yes/)]);
  });

  it('records the reason, the ticket and the name from OPERATOR with the event', async () => {
    const account = await accountIn(inProduction);
    const issued = await inProduction(
      ...['keys', 'issue', account, '--kind', 'secret', '--environment', 'live'],
      ...['--reason', 'a new integrator', '--ticket', 'SUP-4711', '--yes'],
    );
    expect(issued).toMatchObject({ exitCode: 0, stderr: '' });
    const stream = `access_key-${first(issued).keyId}`;
    const purposeless = await inProduction('stream', 'show', stream);
    expect([purposeless.exitCode, purposeless.inOrder]).toEqual([
      1,
      'In production this needs --purpose <text>, which is recorded in the log with your name.\n',
    ]);
    const event = first(await inProduction('stream', 'show', stream, '--purpose', 'a drill', '--ticket', 'SUP-4712'));
    const uses = await inProduction('operators', 'uses', '--by', 'j.doe');
    expect(first(uses)).toMatchObject({
      ...{ by: 'j.doe', tool: 'stream show', subject: { kind: 'stream', id: stream } },
      ...{ purpose: 'a drill', ticket: 'SUP-4712' },
    });
    expect((await inProduction('operators', 'uses', '--by', 'someone.else')).inOrder).toBe('');
    const by = { actor: { kind: 'operator', id: 'j.doe' }, reason: 'a new integrator', ticket: 'SUP-4711' };
    expect(event.metadata).toMatchObject(by);
  });
});

describe('outside production', () => {
  it('needs neither a reason nor a confirmation, and records that no reason was given', async () => {
    const account = await accountIn(inDevelopment);
    const issued = await inDevelopment('keys', 'issue', account, '--kind', 'secret', '--environment', 'live');
    const event = first(await inDevelopment('stream', 'show', `access_key-${first(issued).keyId}`));
    expect(event.metadata.reason).toBe('none given outside production');
  });

  it.each(['', ' ', 'x'.repeat(201), 'two\nlines'])('refuses the reason %j', async (reason) => {
    const { exitCode, stderr } = await inDevelopment('keys', 'deactivate', ID, '--reason', reason);
    expect([exitCode, stderr]).toEqual([1, '--reason must be a line of 1 to 200 characters.\n']);
  });
});
