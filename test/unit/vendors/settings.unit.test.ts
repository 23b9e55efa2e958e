// The settings of a vendor's folder, as the configuration reads them (docs/operations/install.md#settings-of-a-vendor).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/config.js';
import type { Secret, SettingValues, VendorSettings } from '../../../src/kernel/vendor-settings.js';
import { defineVendor, type OpenVendor, type Vendor } from '../../../src/vendor-kit/define-vendor.js';
import { findVendors, VendorRegistry } from '../../../src/vendor-kit/registry.js';
import { PRODUCTION } from '../../support/production.js';

const folder = mkdtempSync(join(tmpdir(), 'vendor-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const opened: unknown[] = [];
const acme: Vendor = defineVendor({
  id: 'zeta',
  capabilities: { credit: { operations: { pullReport: 'idempotent' }, needs: ['session-of:zeta', 'session-of:idv'] } },
  settings: {
    url: { kind: 'url' },
    apiKey: { kind: 'secret', published: 'zeta-published' },
    signingKeys: { kind: 'secrets', optional: true },
    certificate: { kind: 'pem', optional: true },
    workflow: { kind: 'text', published: 'sandbox-workflow' },
    region: { kind: 'choice', words: ['us', 'eu'], fallback: 'us' },
    patienceSeconds: { kind: 'number', min: 1, max: 60, fallback: 5 },
  },
  open: async (settings): Promise<OpenVendor> => {
    const credit = { name: settings.apiKey, pullReport: () => Promise.reject(new Error('not asked')) };
    opened.push(settings);
    return { credit, close: async () => undefined };
  },
});
const production = { ...PRODUCTION, REDIS_URL: 'rediss://:redis-secret@redis.internal:6380' };
const first = await findVendors();
const read = (env: Record<string, string>, vendors: readonly Vendor[] = [...first, acme]): VendorSettings | undefined =>
  readConfig({ ...production, ...env }, { vendors }).vendors.byId['zeta'];
const LIVE = {
  VENDOR_ZETA_URL: 'https://zeta.example.com',
  VENDOR_ZETA_API_KEY: 'zeta-live-key',
  VENDOR_ZETA_WORKFLOW: 'w1',
};
const secretOf = (value: unknown): string =>
  typeof value === 'function' ? (value as () => string)() : (value as string);

describe('the settings of a vendor', () => {
  it('have variables with names that are derived from the id of the vendor', () => {
    const live = { url: 'https://zeta.example.com', apiKey: 'zeta-live-key', workflow: 'w1' };
    const defaults = { signingKeys: null, certificate: null, region: 'us', patienceSeconds: 5 };
    expect(read(LIVE)).toEqual({ live: { ...live, ...defaults }, test: null });
    expect(read({ ...LIVE, VENDOR_ZETA_REGION: 'eu', VENDOR_ZETA_PATIENCE_SECONDS: '7' })?.live).toMatchObject({
      region: 'eu',
      patienceSeconds: 7,
    });
  });

  it('have variables of their own for test traffic, and the sandbox as their default address', () => {
    const sandbox = {
      SANDBOX_URL: 'http://127.0.0.1:9',
      SANDBOX_VENDOR_KEY: 'sandbox-only-vendor-key',
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_of_the_sandbox',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_of_the_sandbox',
    };
    const test = { VENDOR_ZETA_TEST_API_KEY: 'zeta-test-key', VENDOR_ZETA_TEST_WORKFLOW: 'w2' };
    expect(read({ ...LIVE, ...sandbox, ...test })?.test).toMatchObject({
      url: 'http://127.0.0.1:9/vendors/zeta',
      apiKey: 'zeta-test-key',
      workflow: 'w2',
    });
    expect(read({ ...LIVE, ...sandbox })?.test).toBeNull();
    expect(() => read({ ...LIVE, ...sandbox, ...test, VENDOR_ZETA_TEST_API_KEY: 'zeta-live-key' })).toThrow(
      'VENDOR_ZETA_TEST_API_KEY must differ from VENDOR_ZETA_API_KEY',
    );
  });

  it('have the published values outside production when no variable is set', () => {
    const { live } = readConfig({ REDIS_URL: 'redis://a' }, { vendors: [...first, acme] }).vendors.byId['zeta'] ?? {};
    expect(live).toMatchObject({ apiKey: 'zeta-published', workflow: 'sandbox-workflow', signingKeys: null });
  });

  it('are read from the file that a variable with _FILE names, and again when the file has changed', () => {
    const { VENDOR_ZETA_API_KEY: _, ...others } = LIVE;
    const path = file('key', 'zeta-first-key\n');
    const settings = read({ ...others, VENDOR_ZETA_API_KEY_FILE: path })?.live;
    expect(secretOf(settings?.['apiKey'])).toBe('zeta-first-key');
    file('key', 'zeta-second-key\n');
    expect(secretOf(settings?.['apiKey'])).toBe('zeta-second-key');
    const ofFirst = readConfig(
      { ...production, IDENTITY_VENDOR_KEY: '', IDENTITY_VENDOR_KEY_FILE: path },
      { vendors: first },
    ).vendors.byId['idv'];
    expect(secretOf(ofFirst?.live?.['credential'])).toBe('zeta-second-key');
  });

  it('are refused in one message that names every wrong variable and quotes no value', () => {
    const wrong = {
      VENDOR_ZETA_URL: 'http://zeta.example.com',
      VENDOR_ZETA_API_KEY_FILE: join(folder, 'missing'),
      VENDOR_ZETA_CERTIFICATE: 'canary-no-pem',
      VENDOR_ZETA_REGION: 'canary-region',
      VENDOR_ZETA_PATIENCE_SECONDS: '61',
      VENDOR_ZETTA_API_KEY: 'canary-of-no-vendor',
      VENDOR_INSTANCES: 'zeta-west:nobody',
    };
    let message = '';
    try {
      read(wrong);
    } catch (error) {
      message = String(error);
    }
    const names = ['API_KEY_FILE', 'URL', 'CERTIFICATE', 'WORKFLOW', 'REGION', 'PATIENCE_SECONDS'];
    for (const name of [...names.map((name) => `VENDOR_ZETA_${name}`), 'VENDOR_ZETTA_API_KEY', 'VENDOR_INSTANCES'])
      expect(message).toContain(`${name} must`);
    expect(message).not.toContain('canary');
  });

  it('are refused when a secret is both in a variable and in a file', () => {
    expect(() => read({ ...LIVE, VENDOR_ZETA_API_KEY_FILE: file('both', 'zeta-other-key') })).toThrow(
      'VENDOR_ZETA_API_KEY_FILE must not be set together with VENDOR_ZETA_API_KEY',
    );
  });

  it('let the credentials of an account differ, and only in the environment of the file', async () => {
    const accounts = file('accounts.json', JSON.stringify({ 'account-1': { apiKey: 'zeta-key-of-one' } }));
    const settings = read({ ...LIVE, VENDOR_ZETA_ACCOUNTS_FILE: accounts });
    const registry = new VendorRegistry([acme], { zeta: settings ?? { live: null, test: null } });
    await registry.open(1_000);
    const keyFor = (accountId: string, environment: 'live' | 'test' = 'live'): string | null => {
      const adapter = registry.of('credit', { vendor: 'zeta', environment, accountId }) as { name?: Secret } | null;
      return adapter && secretOf(adapter.name);
    };
    expect([keyFor('account-1'), keyFor('account-2')]).toEqual(['zeta-key-of-one', 'zeta-live-key']);
    expect(keyFor('account-1', 'test')).toBeNull();
    await registry.close();
  });

  it.each([
    ['a missing file', null],
    ['no JSON', 'canary'],
    ['a list', '[]'],
    ['an unknown setting', '{"account-1":{"canary":"x"}}'],
    ['a weak secret', '{"account-1":{"apiKey":"aaaa"}}'],
    ['an unknown word', '{"account-1":{"region":"canary"}}'],
  ])('are refused when the file of the accounts has or is %s', (_what, text) => {
    const path = text === null ? join(folder, 'none') : file('wrong.json', text);
    expect(() => read({ ...LIVE, VENDOR_ZETA_ACCOUNTS_FILE: path })).toThrow(
      /VENDOR_ZETA_ACCOUNTS_FILE (?!.*canary).* must|VENDOR_ZETA_ACCOUNTS_FILE must(?!.*canary)/,
    );
  });
});

describe('a further instance of a contract', () => {
  it('has an id, settings and sessions of its own, and the double of the contract', async () => {
    const vendors = await findVendors(undefined, 'idv-west:idv');
    const west = vendors.find(({ id }) => id === 'idv-west');
    const env = { VENDOR_INSTANCES: 'idv-west:idv', VENDOR_IDV_WEST_URL: 'https://west.example.com' };
    const { byId } = readConfig(
      { ...production, ...env, VENDOR_IDV_WEST_CREDENTIAL: 'west-secret' },
      { vendors },
    ).vendors;
    expect(byId['idv-west']?.live).toEqual({ url: 'https://west.example.com', credential: 'west-secret' });
    expect(byId['idv']?.live).toEqual({ url: 'https://vendor.example.com', credential: 'vendor-key' });
    expect(west?.capabilities.credit?.needs).toEqual(['session-of:idv-west']);
    const registry = new VendorRegistry(vendors, byId);
    expect(registry.offering('identity')).toEqual(expect.arrayContaining(['idv', 'idv-west']));
    expect(registry.certifiedAs('idv-west')).toBe(registry.certifiedAs('idv'));
    const unset = readConfig(
      { REDIS_URL: 'redis://a', SANDBOX_URL: 'http://127.0.0.1:9', VENDOR_INSTANCES: 'idv-west:idv' },
      { vendors },
    );
    const values: SettingValues = { url: 'http://127.0.0.1:9', credential: 'sandbox-vendor-key' };
    expect(unset.vendors.byId['idv-west']?.live).toEqual(values);
  });

  it.each(['idv-west', 'idv-west:', 'idv:idv', 'Idv:idv', 'west:idv,west:idv', 'west:unknown'])(
    'is refused when VENDOR_INSTANCES is %s',
    async (list) => {
      const vendors = await findVendors(undefined, list);
      expect(() => readConfig({ ...production, VENDOR_INSTANCES: list }, { vendors })).toThrow('VENDOR_INSTANCES must');
    },
  );
});
