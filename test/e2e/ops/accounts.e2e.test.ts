// The operator commands for accounts, keys and dashboard tokens, and the demo accounts of a first start.
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { Service, type Credentials, type Reply } from '../../support/service.js';

const ORIGIN = 'https://app.example.test';

interface Outcome {
  readonly code: number;
  readonly lines: Reply['body'][];
  readonly output: string;
}

describe('ops', () => {
  let service: Service;
  let credentials: Credentials;

  beforeAll(async () => {
    service = await Service.start();
    credentials = await service.credentials();
  });
  afterAll(() => service.stop());

  async function ops(...args: string[]): Promise<Outcome> {
    const { exitCode: code, stdout } = await service.ops(...args);
    const output = stdout.trim();
    return {
      code,
      output,
      lines: code === 0 && output !== '' ? output.split('\n').map((line) => JSON.parse(line)) : [],
    };
  }

  async function one(...args: string[]): Promise<Reply['body']> {
    const { code, lines, output } = await ops(...args);
    if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${output}`);
    expect(lines).toHaveLength(1);
    return lines[0];
  }

  const exchange = (key: string) =>
    service.request('POST', '/auth/token/exchange', { headers: { 'x-publishable-key': key, origin: ORIGIN } });

  it('accounts: are created below a parent with settings, shown, changed and listed', async () => {
    const parent = await one('accounts', 'create', '--name', 'Parent & Co');
    expect(parent).toMatchObject({
      name: 'Parent & Co',
      parentId: null,
      feeCents: 0,
      consumerPays: false,
      products: ['CONSUMER', 'AGENT', 'PMC'],
    });
    const options = [
      '--fee',
      '3500',
      '--payer',
      'consumer',
      '--prepaid',
      'yes',
      '--live',
      'yes',
      '--currency',
      'eur',
      '--products',
      'PMC,CONSUMER',
      '--per-minute',
      '90',
      '--payment-account',
      'acct_1',
    ];
    const child = await one('accounts', 'create', '--name', 'Child', '--parent', parent.accountId, ...options);
    expect(child).toMatchObject({
      parentId: parent.accountId,
      feeCents: 3_500,
      consumerPays: true,
      prepaidBilling: true,
      provisionedForLive: true,
      currency: 'eur',
      products: ['CONSUMER', 'PMC'],
      exchangesPerMinute: 90,
      connectedPaymentAccount: 'acct_1',
    });
    const changed = { feeCents: 0, connectedPaymentAccount: null, exchangesPerMinute: null, provisionedForLive: false };
    expect(
      await one(
        'accounts',
        'set',
        child.accountId,
        '--fee',
        '0',
        '--payment-account',
        'none',
        '--per-minute',
        'none',
        '--live',
        'no',
      ),
    ).toEqual({ ...child, ...changed });
    expect(await one('accounts', 'show', parent.accountId)).toEqual({
      ...parent,
      children: [child.accountId],
      routes: {},
    });
    const all = (await ops('accounts', 'list')).lines.map(({ accountId }) => accountId);
    expect(all).toEqual(
      expect.arrayContaining([parent.accountId, child.accountId, credentials.accounts.demo.accountId]),
    );
    expect((await ops('accounts', 'list', '--parent', parent.accountId)).lines).toEqual([{ ...child, ...changed }]);
  });

  it('accounts: choose one of the installed vendors for each capability', async () => {
    const { accountId, ...shown } = await one('accounts', 'create', '--name', 'Vendors', '--identity-vendor', 'idv');
    expect(shown.vendors).toEqual({ identity: 'idv' });
    const refused = await ops('accounts', 'set', accountId, '--income-vendor', 'idv');
    expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/must be one of .*voie/)]);
    const others = ['--credit-vendor', 'idv', '--identity-vendor', 'none'];
    expect((await one('accounts', 'set', accountId, ...others)).vendors).toEqual({ credit: 'idv' });
  });

  it('accounts: certify their purposes, and the log keeps who, until when and the digest of the text', async () => {
    const { accountId, ...created } = await one('accounts', 'create', '--name', 'Careful', '--require-purpose', 'yes');
    expect(created).toMatchObject({ purposeRequired: true, certification: null });
    const text = join(service.dataDir, 'certification.txt');
    await writeFile(text, 'We read reports only to screen tenants.\n');
    const given = ['--purposes', 'TENANT_SCREENING', '--end-users', 'PROPERTY_MANAGEMENT', '--text', text];
    const signed = [...given, '--by', 'user_17', '--until', '2099-01-01T00:00:00Z'];
    const certified = {
      purposes: ['TENANT_SCREENING'],
      endUserTypes: ['PROPERTY_MANAGEMENT'],
      by: 'user_17',
      textDigest: '3d7cebb4046da0ebe9f2b86c4cebd3849ab8a51a1b6a3059980dc6afc17c8c9f',
      until: '2099-01-01T00:00:00.000Z',
    };
    expect(await one('accounts', 'certify', accountId, ...signed, '--reason', 'contract 7')).toEqual({
      accountId,
      ...certified,
    });
    expect((await one('accounts', 'show', accountId)).certification).toEqual(certified);
    const { lines } = await ops('stream', 'show', `account-${accountId}`);
    expect(lines.at(-1)).toMatchObject({
      type: 'PurposesCertified',
      data: certified,
      metadata: { actor: { kind: 'operator' }, reason: 'contract 7' },
    });
  });

  it('accounts: have prepaid credit, which is shown and added once for each reference', async () => {
    const { accountId } = await one('accounts', 'create', '--name', 'Prepaid');
    expect(await one('accounts', 'credit', accountId)).toEqual({ accountId, balance: 0, reserved: 0 });
    expect(await one('accounts', 'credit', accountId, '--add', '25')).toEqual({ accountId, balance: 25, reserved: 0 });
    for (const _ of [1, 2])
      expect(await one('accounts', 'credit', accountId, '--add', '10', '--reference', 'invoice/2026-7')).toEqual({
        accountId,
        balance: 35,
        reserved: 0,
      });
    const { lines } = await ops('stream', 'show', `credit-${accountId}`);
    expect(lines.map(({ type, data }) => [type, data.credits])).toEqual([
      ['CreditAdded', 25],
      ['CreditAdded', 10],
    ]);
    expect(lines.at(-1)).toMatchObject({ metadata: { accountId, actor: { kind: 'operator' } } });
  });

  it('keys: are shown once, listed without the key, set, and deactivated permanently', async () => {
    const { accountId } = await one('accounts', 'create', '--name', 'Keys');
    const issued = await one(
      'keys',
      'issue',
      accountId,
      '--kind',
      'publishable',
      '--environment',
      'test',
      '--origins',
      'https://old.example.test',
    );
    expect(issued).toEqual({
      keyId: expect.any(String),
      accountId,
      kind: 'publishable',
      environment: 'test',
      key: expect.stringMatching(/^pk_test_[\w-]{65}$/),
    });
    expect((await one('keys', 'issue', accountId, '--kind', 'secret', '--environment', 'live')).key).toMatch(
      /^sk_live_[\w-]{65}$/,
    );
    expect(
      (await one('keys', 'issue', accountId, '--kind', 'api', '--environment', 'test', '--client-class', 'first_party'))
        .key,
    ).toMatch(/^ak_test_[\w-]{65}$/);
    expect(
      await one('keys', 'set', issued.keyId, '--origins', `${ORIGIN}, https://other.example.test`, '--per-minute', '7'),
    ).toMatchObject({ allowedOrigins: [ORIGIN, 'https://other.example.test'], perMinute: 7 });
    const reply = await exchange(issued.key);
    expect([reply.status, reply.headers.get('ratelimit-limit')]).toEqual([200, '7']);
    const { lines, output } = await ops('keys', 'list', accountId);
    expect(lines.map(({ kind, status }) => [kind, status])).toEqual([
      ['publishable', 'active'],
      ['secret', 'active'],
      ['api', 'active'],
    ]);
    expect(output).not.toContain(issued.key.slice(-43));
    expect(await one('keys', 'deactivate', issued.keyId)).toMatchObject({ keyId: issued.keyId, status: 'inactive' });
    expect(await one('keys', 'deactivate', issued.keyId)).toMatchObject({ status: 'inactive' });
  });

  it('tokens: are issued to a dashboard user with a role', async () => {
    const { token, expiresAt } = await one(
      'tokens',
      'issue',
      credentials.accounts.demo.accountId,
      '--user',
      'u-1',
      '--role',
      'ADMINISTRATOR',
      '--hours',
      '2',
    );
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      aud: 'dashboard',
      sub: 'u-1',
      role: 'ADMINISTRATOR',
      permissions: ['webhooks:manage'],
      account_id: credentials.accounts.demo.accountId,
      env: 'live',
    });
    expect([claims.exp! - claims.iat!, new Date(expiresAt).getTime()]).toEqual([7_200, claims.exp! * 1_000]);
  });

  it('tokens: a token that is valid for more than a day needs a reason', async () => {
    const issue = ['tokens', 'issue', credentials.accounts.demo.accountId, '--user', 'u-1', '--role', 'OWNER'];
    const sentence = 'A token for more than 24 hours needs --reason <text>.';
    expect(await ops(...issue, '--hours', '25')).toEqual({ code: 1, output: sentence, lines: [] });
    expect(await one(...issue, '--hours', '24')).toHaveProperty('token');
    const { expiresAt } = await one(...issue, '--hours', '25', '--reason', 'a trial of one week');
    expect(new Date(expiresAt).getTime()).toBeGreaterThan(Date.now() + 24 * 3_600_000);
  });

  it('tokens: a revoked token gets 401 from the next request on, and another token of the account stays valid', async () => {
    const issue = ['tokens', 'issue', credentials.accounts.demo.accountId, '--user', 'u-1', '--role', 'OWNER'];
    const [revoked, other] = [await one(...issue), await one(...issue)];
    const status = async ({ token }: { readonly token: string }): Promise<number> =>
      (await service.request('GET', '/tsp/webhooks', { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status(revoked), await status(other)]).not.toContain(401);
    expect(await one('tokens', 'revoke', revoked.tokenId)).toEqual({ revokedToken: revoked.tokenId });
    expect([await status(revoked), (await status(other)) === 401]).toEqual([401, false]);
    expect(await one('tokens', 'revoke', revoked.tokenId)).toEqual({ revokedToken: revoked.tokenId });
  });

  it.each<[string, string[]]>([
    ['There is no such token.', ['tokens', 'revoke', '01900000-0000-7000-8000-000000000000']],
    ['There is no such account.', ['accounts', 'set', '01900000-0000-7000-8000-000000000000', '--fee', '1']],
    ['There is no such key.', ['keys', 'deactivate', '01900000-0000-7000-8000-000000000000']],
    ['The account must be an id such as 01234567-89ab-7cde-8f01-23456789abcd.', ['accounts', 'show', 'acme']],
    [
      'There is no account with the id given as the parent.',
      ['accounts', 'create', '--name', 'X', '--parent', '01900000-0000-7000-8000-000000000000'],
    ],
    ['--fee must be a whole number.', ['accounts', 'create', '--name', 'X', '--fee', '12.50']],
    [
      'The fee must be a whole number of cents from 0 to 99999999.',
      ['accounts', 'create', '--name', 'X', '--fee', '100000000'],
    ],
    ['There is no such account.', ['accounts', 'credit', '01900000-0000-7000-8000-000000000000', '--add', '1']],
    [
      '--products must be one of CONSUMER, AGENT, PMC.',
      ['accounts', 'create', '--name', 'X', '--products', 'CONSUMER,CAT'],
    ],
  ])('1: %s', async (sentence, args) => {
    expect(await ops(...args)).toEqual({ code: 1, output: sentence, lines: [] });
  });

  it.each<[string, string, string[]]>([
    [
      "error: required option '--name <name>' not specified",
      'Usage: ops accounts create [options]',
      ['accounts', 'create'],
    ],
    ["error: missing required argument 'account'", 'Usage: ops keys list [options] <account>', ['keys', 'list']],
  ])('1: %s, and the usage is shown', async (sentence, usage, args) => {
    const { code, output, lines } = await ops(...args);
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(output.split('\n').slice(0, 3)).toEqual([sentence, '', usage]);
  });

  it('1: wrong keys and tokens are reported in one sentence', async () => {
    const { accountId } = credentials.accounts.demo;
    const issue = ['keys', 'issue', accountId, '--environment', 'live', '--kind'];
    const cases: [string, string[]][] = [
      ['A publishable key needs --origins, such as https://app.example.com.', [...issue, 'publishable']],
      ['A live key allows https origins only.', [...issue, 'publishable', '--origins', 'http://localhost:5173']],
      ['Only publishable keys have --origins and --per-minute.', [...issue, 'secret', '--origins', ORIGIN]],
      [
        'The user id has 1 to 64 letters, digits, dashes and underscores.',
        ['tokens', 'issue', accountId, '--user', 'ada@example.test', '--role', 'OWNER'],
      ],
      [
        'A reference has 1 to 64 letters, digits, dots, colons, slashes, dashes and underscores.',
        ['accounts', 'credit', accountId, '--add', '1', '--reference', 'ada@example.test'],
      ],
      ['--reference goes with --add.', ['accounts', 'credit', accountId, '--reference', 'x']],
    ];
    for (const [sentence, args] of cases) expect(await ops(...args)).toEqual({ code: 1, output: sentence, lines: [] });
  });

  describe('demo accounts', () => {
    const path = (): string => join(service.dataDir, 'demo-credentials.json');
    const restart = async (): Promise<void> => {
      await service.program.end('SIGTERM');
      await service.startAgain();
    };

    it('are in a file with the documented content, which only the owner of the file can read', async () => {
      expect((await stat(path())).mode & 0o777).toBe(0o600);
      const { baseUrl, embeddedUrl, sandboxUrl, accounts } = credentials;
      expect({ baseUrl, embeddedUrl, sandboxUrl }).toEqual({
        baseUrl: service.baseUrl,
        embeddedUrl: `${service.baseUrl}/embedded`,
        sandboxUrl: service.sandboxUrl,
      });
      expect(Object.keys(accounts)).toEqual(['demo', 'child', 'grandchild', 'unrelated', 'nopay', 'broke', 'unbilled']);
      for (const [name, account] of Object.entries(accounts)) {
        const live = { demo: ['livePublishableKey', 'liveSecretKey'], unbilled: ['livePublishableKey'] }[name] ?? [];
        expect(Object.keys(account).sort()).toEqual(
          ['accountId', 'allowedOrigins', 'apiKey', 'dashboardTokens', 'publishableKey', 'secretKey', ...live].sort(),
        );
        expect(Object.keys(account.dashboardTokens)).toEqual(['owner', 'administrator', 'developer']);
        expect((await exchange(account.publishableKey)).status).toBe(200);
      }
      const shown = async (name: keyof Credentials['accounts']) => one('accounts', 'show', accounts[name].accountId);
      expect((await shown('demo')).children).toEqual([accounts.child.accountId]);
      expect((await shown('child')).children).toEqual([accounts.grandchild.accountId]);
      expect(await shown('demo')).toMatchObject({ consumerPays: true, provisionedForLive: false });
      expect(await shown('nopay')).toMatchObject({ consumerPays: false });
    });

    it('have credit for a thousand reports, except the account without credit, and get it only once', async () => {
      const balanceOf = async (name: keyof Credentials['accounts']) =>
        (await one('accounts', 'credit', credentials.accounts[name].accountId)).balance;
      await restart();
      expect([await balanceOf('nopay'), await balanceOf('broke')]).toEqual([1_000, 0]);
    });

    it('have products, even if the demo accounts were created before products existed', async () => {
      const { accountId } = credentials.accounts.demo;
      expect(await one('accounts', 'show', accountId)).toMatchObject({ productIds: [1, 2] });
      // Restores the state of an account from before products existed.
      expect(await one('accounts', 'set', accountId, '--product-ids', 'none')).toMatchObject({ productIds: [] });
      await restart();
      expect(await one('accounts', 'show', accountId)).toMatchObject({ productIds: [1, 2] });
    });

    it('a second start changes nothing', async () => {
      const before = [
        await readFile(path(), 'utf8'),
        (await ops('keys', 'list', credentials.accounts.demo.accountId)).output,
      ];
      await restart();
      expect([
        await readFile(path(), 'utf8'),
        (await ops('keys', 'list', credentials.accounts.demo.accountId)).output,
      ]).toEqual(before);
    });

    it('missing or wrong entries of the file are replaced, and the other entries are kept', async () => {
      const { demo, child } = credentials.accounts;
      const damaged = {
        ...credentials,
        accounts: {
          ...credentials.accounts,
          demo: { ...demo, publishableKey: `${demo.publishableKey}x` },
          child: { ...child, dashboardTokens: {} },
        },
      };
      await writeFile(path(), JSON.stringify(damaged));
      await restart();
      const { accounts } = await service.credentials();
      expect(accounts.demo.publishableKey).not.toBe(demo.publishableKey);
      expect((await exchange(accounts.demo.publishableKey)).status).toBe(200);
      expect(accounts.child.dashboardTokens.owner).not.toBe(child.dashboardTokens.owner);
      const untouched = ({ publishableKey: _, ...rest }: Credentials['accounts']['demo']) => rest;
      expect(untouched(accounts.demo)).toEqual(untouched(demo));
      expect(accounts.unrelated).toEqual(credentials.accounts.unrelated);
    });

    it('a lost file is written again with keys that work', async () => {
      await rm(path());
      await restart();
      const { accounts } = await service.credentials();
      expect(accounts.demo.accountId).toBe(credentials.accounts.demo.accountId);
      expect((await exchange(accounts.demo.publishableKey)).status).toBe(200);
    });
  });
});
