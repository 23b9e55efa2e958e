// How the vendors of an installation are found and chosen.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/config.js';
import { CAPABILITIES, FIRST_VENDORS } from '../../../src/kernel/vendor-choice.js';
import type { VendorSettings } from '../../../src/kernel/vendor-settings.js';
import { defineVendor, type Vendor } from '../../../src/vendor-kit/define-vendor.js';
import { findVendors, VendorRegistry } from '../../../src/vendor-kit/registry.js';
import { PRODUCTION } from '../../support/production.js';

const found = await findVendors();

const env = { ...PRODUCTION, REDIS_URL: 'rediss://:redis-secret@redis.internal:6380' };
const opened = async (settings: Readonly<Record<string, VendorSettings>>, vendors = found): Promise<VendorRegistry> => {
  const registry = new VendorRegistry(vendors, settings);
  await registry.open(1_000);
  return registry;
};

describe('the vendor registry', () => {
  it('finds the vendor folders, and offers at least the default vendor for each capability', async () => {
    const registry = await opened(readConfig(env, { vendors: found }).vendors.byId);
    for (const capability of CAPABILITIES) expect(registry.offering(capability)).toContain(FIRST_VENDORS[capability]);
    await registry.close();
  });

  it('gives test traffic no live vendor, and no vendor without a sandbox', async () => {
    const registry = await opened(readConfig(env, { vendors: found }).vendors.byId);
    expect(registry.of('identity', { environment: 'live' })).not.toBeNull();
    expect(registry.of('identity', { environment: 'test' })).toBeNull();
    expect(registry.of('identity', { environment: 'live', vendor: 'voie' })).toBeNull();
    await registry.close();
  });

  it('does not offer a vendor without settings', async () => {
    const zeta: Vendor = defineVendor({
      id: 'zeta',
      capabilities: { credit: { operations: { pullReport: 'idempotent' }, needs: ['session-of:idv'] } },
      settings: { key: { kind: 'secret', variable: 'VENDOR_ZETA_KEY', testVariable: 'VENDOR_ZETA_TEST_KEY' } },
      open: async () => ({ close: async () => undefined }),
    });
    const vendors = [...found, zeta];
    const without = await opened(readConfig(env, { vendors }).vendors.byId, vendors);
    expect(without.offering('credit')).not.toContain('zeta');
    const live = await opened(
      readConfig({ ...env, VENDOR_ZETA_KEY: 'zeta-secret' }, { vendors }).vendors.byId,
      vendors,
    );
    expect(live.offering('credit')).toContain('zeta');
    expect(live.takesSessionsOf('credit', 'zeta', 'idv')).toBe(true);
    expect(live.takesSessionsOf('credit', 'zeta', 'zeta')).toBe(false);
    await Promise.all([without.close(), live.close()]);
  });

  it('closes all vendors at the same time, so that no vendor waits for another', async () => {
    let bothClose: () => void = () => undefined;
    const both = new Promise<void>((resolve) => (bothClose = resolve));
    let closing = 0;
    const close = (): Promise<void> => {
      closing += 1;
      if (closing === 2) bothClose();
      return both;
    };
    const vendor = (id: string): Vendor =>
      defineVendor({ id, capabilities: {}, settings: {}, open: async () => ({ close }) });
    const settings = { live: {}, test: null };
    const registry = await opened({ one: settings, two: settings }, [vendor('one'), vendor('two')]);
    await registry.close();
    expect(closing).toBe(2);
  });
});

describe('a vendor folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'vendors-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const folder = (name: string, vendor: object): string => {
    const at = join(root, name);
    mkdirSync(join(at, name), { recursive: true });
    writeFileSync(join(at, name, 'vendor.js'), `export const vendor = ${JSON.stringify(vendor)};`);
    writeFileSync(join(at, 'package.json'), '{"type":"module"}');
    return at;
  };

  it("is refused when the vendor's id differs from the folder's name", async () => {
    await expect(findVendors(folder('acme', { id: 'other', capabilities: {}, settings: {} }))).rejects.toThrow(
      'The vendor in the folder acme calls itself other',
    );
  });

  it('is refused when an operation that is not idempotent would be repeated', async () => {
    const twice = {
      id: 'twice',
      capabilities: { credit: { operations: { pullReport: 'at-most-once' } } },
      settings: {},
    };
    await expect(findVendors(folder('twice', twice))).rejects.toThrow('pullReport is repeated');
  });
});
