// Operators see the vendors, pause them, and send new sessions to others. A change needs a reason, and takes effect without a restart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CommandResult, runOperatorCommand } from '../../support/operator.js';
import { productionHere } from '../../support/production.js';
import { RedisServer } from '../../support/redis.js';

let redis: RedisServer;
const folder = mkdtempSync(join(tmpdir(), 'ops-vendors-'));
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const ops = (...args: string[]): Promise<CommandResult> =>
  runOperatorCommand(args, { DATA_DIR: folder, REDIS_URL: redis.url, OPERATOR: 'j.doe' });
const rowsOf = ({ stdout }: CommandResult): any[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const REASON = ['--reason', 'ticket 4711', '--yes'] as const;
const statesOf = async (vendor: string): Promise<readonly string[]> =>
  rowsOf(await ops('vendors', 'list'))
    .filter((row) => row.vendor === vendor)
    .map(({ capability, environment, state }) => `${capability} ${environment} ${state}`);

describe('ops vendors', () => {
  it('lists each vendor with its capabilities, environments, state, certificate and weight', async () => {
    const rows = rowsOf(await ops('vendors', 'list'));
    expect(rows).toContainEqual({
      vendor: 'idv',
      capability: 'identity',
      environment: 'live',
      state: 'ready',
      certificate: rows.find(({ vendor }) => vendor === 'idv').certificate,
      weight: null,
    });
    expect(rows.map(({ vendor }) => vendor)).toEqual(expect.arrayContaining(['idv', 'stripe', 'voie']));
  });

  it.each([
    ['pause', 'idv'],
    ['resume', 'idv'],
    ['route', 'identity', 'idv=1'],
  ])('changes nothing with %s %s and without a reason', async (...words) => {
    const { exitCode, stderr } = await ops('vendors', ...words, '--yes');
    expect([exitCode, stderr]).toEqual([1, 'Give the reason of the change: --reason <text>.\n']);
  });

  it('pauses and resumes a vendor, and shows who changed it and why', async () => {
    expect((await ops('vendors', 'pause', 'idv', '--environment', 'live', ...REASON)).exitCode).toBe(0);
    expect(await statesOf('idv')).toEqual([
      'identity live paused',
      'identity test ready',
      'credit live paused',
      'credit test ready',
    ]);
    expect((await ops('vendors', 'resume', 'idv', ...REASON)).exitCode).toBe(0);
    expect((await statesOf('idv')).filter((state) => !state.endsWith('ready'))).toEqual([]);
    const [shown] = rowsOf(await ops('vendors', 'show', 'idv'));
    const by = { by: 'j.doe', reason: 'ticket 4711' };
    expect(shown).toMatchObject({
      vendor: 'idv',
      changes: [
        { type: 'VendorResumed', environment: 'live', ...by },
        { type: 'VendorPaused', environment: 'live', ...by },
      ],
    });
  });

  it('shows an open breaker', async () => {
    await redis.client().set('vendor-open:identity-vendor:test', 1);
    expect(await statesOf('idv')).toContain('identity test open breaker');
    await redis.client().del('vendor-open:identity-vendor:test');
  });

  it('sets and removes the route of the installation and of an account', async () => {
    const [account] = rowsOf(await ops('accounts', 'create', '--name', 'Acme Homes'));
    const route = { identity: { weights: { idv: 3 }, fallback: null } };
    expect(rowsOf(await ops('vendors', 'route', 'identity', 'idv=3', ...REASON))).toEqual([
      { account: null, routes: route },
    ]);
    const { accountId } = account;
    expect(rowsOf(await ops('vendors', 'route', 'identity', 'idv=3', '--account', accountId, ...REASON))).toEqual([
      { account: accountId, routes: route },
    ]);
    expect(rowsOf(await ops('accounts', 'show', accountId))).toMatchObject([{ accountId, routes: route }]);
    const unfit = await ops('vendors', 'route', 'identity', 'acme=1', '--account', accountId, ...REASON);
    expect(unfit.stderr).toContain(`credit <vendor>=<weight> ... --account ${accountId} --reason <text>`);
    const rows = rowsOf(await ops('vendors', 'list'));
    expect(rows.find(({ vendor }) => vendor === 'idv')).toMatchObject({ capability: 'identity', weight: 3 });
    expect(rowsOf(await ops('vendors', 'route', 'identity', 'none', ...REASON))).toEqual([
      { account: null, routes: {} },
    ]);
  });

  it('sets a shadow with the route, and a route without one ends it', async () => {
    const [{ routes }] = rowsOf(await ops('vendors', 'route', 'identity', 'idv=1', '--shadow', 'acme', ...REASON));
    expect(routes).toEqual({ identity: { weights: { idv: 1 }, fallback: null, shadow: 'acme' } });
    const [shown] = rowsOf(await ops('vendors', 'show', 'acme'));
    const by = { by: 'j.doe', reason: 'ticket 4711' };
    expect(shown).toMatchObject({ routes, changes: [{ type: 'VendorRouteChosen', shadow: 'acme', ...by }] });
    const [after] = rowsOf(await ops('vendors', 'route', 'identity', 'idv=1', ...REASON));
    expect(after.routes).toEqual({ identity: { weights: { idv: 1 }, fallback: null } });
  });

  it('prints no differences without comparisons, and refuses a time without a zone', async () => {
    expect(rowsOf(await ops('vendors', 'differences', '--vendor', 'acme'))).toEqual([]);
    const { exitCode, stderr } = await ops('vendors', 'differences', '--since', '2026-01-31');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('--since must be an ISO 8601 time with a zone')]);
  });

  it('refuses a shadow that is set up for live traffic only', async () => {
    const acme = {
      URL: 'https://acme.example.com',
      CLIENT_ID: 'id',
      CLIENT_SECRET: 'Acme-secret-1',
      NOTICE_SECRET: 'Acme-notices-1',
    };
    const settings = Object.entries(acme).map(([name, value]) => [`VENDOR_ACME_${name}`, value]);
    const place = { DATA_DIR: join(folder, 'production'), REDIS_URL: redis.url };
    const live = { ...(await productionHere()), ...place, ...(Object.fromEntries(settings) as object) };
    const words = ['vendors', 'route', 'identity', 'idv=1', '--shadow', 'acme', ...REASON];
    const { exitCode, stderr } = await runOperatorCommand(words, live);
    expect([exitCode, stderr]).toEqual([
      1,
      'A shadow gets test traffic only, and acme is not set up for test traffic.\n',
    ]);
  });

  it.each([
    [['identity', 'nobody=1'], /nobody is not set up/],
    [['identity', 'voie=1'], /voie is not set up/],
    [['identity', 'idv=0'], /one weight must be above 0/],
    [['identity', 'idv=1', 'idv=2'], /Each vendor has one weight/],
    [['identity', 'idv'], /A weight is written/],
    [['identity', 'idv=1', '--fallback', 'voie'], /voie is not set up/],
    [['income', 'voie=1', '--fallback', 'voie'], /--fallback goes with the identity vendors/],
    [['identity', 'idv=1', '--shadow', 'nobody'], /nobody is not set up for test traffic/],
    [['identity', 'idv=1', '--shadow', 'idv'], /idv cannot be its shadow/],
    [['credit', 'idv=1', '--shadow', 'acme'], /Only the route of the identity vendors has a shadow/],
    [['payment', 'stripe=1'], /The capability must be one of identity, credit, income/],
    [['identity', 'idv=1', '--account', '01234567-89ab-7cde-8f01-23456789abcd'], /no such account/],
  ])('refuses the route %j', async (words, message) => {
    const { exitCode, stderr } = await ops('vendors', 'route', ...words, ...REASON);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
  });

  it('shows no vendor that does not exist', async () => {
    for (const words of [['show'], ['pause', ...REASON]])
      expect((await ops('vendors', words[0]!, 'nobody', ...words.slice(1))).stderr).toMatch(/There is no such vendor/);
  });
});
