// How the vendors of an installation are found and chosen.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { readConfig } from '../../../src/config/config.js';
import { CAPABILITIES, FIRST_VENDORS } from '../../../src/kernel/vendor-choice.js';
import type { VendorSettings } from '../../../src/kernel/vendor-settings.js';
import type { NoticeRequest } from '../../../src/ports/vendor-notices.js';
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

  it('offers an income vendor for the routes that it has', async () => {
    const bank = defineVendor({
      id: 'bank',
      capabilities: {
        income: { operations: { start: 'idempotent', outcomeOf: 'query' }, needs: [], routes: ['BANKING'] },
      },
      settings: { key: { kind: 'secret', published: 'key-of-the-sandbox' } },
      open: async () => ({ close: async () => undefined }),
    });
    const vendors = [...found, bank];
    const registry = await opened(readConfig({ REDIS_URL: 'redis://a' }, { vendors }).vendors.byId, vendors);
    expect(registry.offering('income')).toContain('bank');
    expect(registry.choices('banking')).toEqual(expect.arrayContaining(['bank', FIRST_VENDORS.income]));
    expect(registry.choices('income')).toContain(FIRST_VENDORS.income);
    expect(registry.choices('income')).not.toContain('bank');
    expect(registry.choices('identity')).toEqual(registry.offering('identity'));
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
    expect(live.knowsPersonBy('credit', 'zeta', 'idv')).toBe('session');
    expect(live.knowsPersonBy('credit', 'zeta', 'zeta')).toBeNull();
    await Promise.all([without.close(), live.close()]);
  });

  it("knows every confirmed person by the person's own data when the vendor needs the applicant", async () => {
    const zeta = defineVendor({
      id: 'zeta',
      capabilities: { credit: { operations: { pullReport: 'idempotent' }, needs: 'applicant' } },
      settings: { key: { kind: 'secret', variable: 'VENDOR_ZETA_KEY', testVariable: 'VENDOR_ZETA_TEST_KEY' } },
      open: async () => ({ close: async () => undefined }),
    });
    const registry = await opened(readConfig(env, { vendors: [...found, zeta] }).vendors.byId, [...found, zeta]);
    expect(['idv', 'zeta'].map((identity) => registry.knowsPersonBy('credit', 'zeta', identity))).toEqual([
      'applicant',
      'applicant',
    ]);
    expect(registry.knowsPersonBy('income', 'zeta', 'idv')).toBeNull();
    await registry.close();
  });

  it('gives a vendor its own time limit, unless the common limit is shorter', async () => {
    const given: Record<string, number> = {};
    const vendor = (id: string, timeoutMs?: number): Vendor =>
      defineVendor({
        id,
        capabilities: {},
        settings: {},
        ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
        async open(_, limitMs) {
          given[id] = limitMs;
          return { close: async () => undefined };
        },
      });
    const settings = { live: {}, test: null };
    const vendors = [vendor('quick', 300), vendor('patient', 5_000), vendor('usual')];
    const registry = await opened({ quick: settings, patient: settings, usual: settings }, vendors);
    expect(given).toEqual({ quick: 300, patient: 1_000, usual: 1_000 });
    await registry.close();
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

describe('the notices of vendors', () => {
  const adyen: Vendor = defineVendor({
    id: 'adyen',
    capabilities: {},
    settings: {
      hook: { kind: 'secret', variable: 'VENDOR_ADYEN_HOOK', testVariable: 'VENDOR_ADYEN_TEST_HOOK' },
    },
    open: async () => ({ close: async () => undefined }),
    notices:
      async ({ hook }) =>
      ({ headers, body }) =>
        headers['x-adyen'] !== hook
          ? null
          : {
              ...{ capability: 'payment', type: 'paid', environment: body.length > 0 ? 'live' : 'test' },
              ...{ eventId: `read with ${hook}`, intentId: 'pi_1', checkoutSessionId: null, transactionId: null },
            },
  });
  const vendors = [adyen, ...found];
  const sandbox = {
    ...{ SANDBOX_URL: 'http://127.0.0.1:9', SANDBOX_VENDOR_KEY: 'sandbox-only-vendor-key' },
    ...{
      SANDBOX_PROCESSOR_SECRET_KEY: 'sk_test_of_the_sandbox',
      SANDBOX_PROCESSOR_WEBHOOK_SECRET: 'whsec_of_the_sandbox',
    },
  };
  const now = new Date('2026-03-01T12:00:00Z');
  const fromStripe = (secret: string, livemode: boolean): NoticeRequest => {
    const payload = JSON.stringify({ object: 'event', id: 'evt_1', type: 'a.b', livemode, data: { object: {} } });
    const timestamp = now.getTime() / 1_000;
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return { body: Buffer.from(payload), headers: { 'stripe-signature': signature }, now };
  };
  const fromAdyen = (secret: string, live: boolean): NoticeRequest => ({
    ...{ body: new Uint8Array(live ? [1] : []), headers: { 'x-adyen': secret }, now },
  });
  const read = (registry: VendorRegistry, id: string, request: NoticeRequest): string | null =>
    registry.readerOf(id)?.(request)?.eventId ?? null;

  it.each([
    ['is not set up', {}, null],
    ['is set up', { VENDOR_ADYEN_HOOK: 'adyen-live-secret' }, 'read with adyen-live-secret'],
  ])('are read by each vendor itself when a second processor %s', async (_how, settings, expected) => {
    const registry = await opened(readConfig({ ...env, ...settings }, { vendors }).vendors.byId, vendors);
    expect(read(registry, 'adyen', fromAdyen('adyen-live-secret', true))).toBe(expected);
    expect(read(registry, 'stripe', fromStripe('whsec_example', true))).toBe('evt_1');
    expect(read(registry, 'stripe', fromAdyen('adyen-live-secret', true))).toBeNull();
    expect(registry.readerOf('idv')).toBeNull();
    expect(registry.readerOf('unknown')).toBeNull();
    await registry.close();
  });

  it('are refused when the secret of one environment signs a notice of the other', async () => {
    const settings = { VENDOR_ADYEN_HOOK: 'adyen-live-secret', VENDOR_ADYEN_TEST_HOOK: 'adyen-test-secret' };
    const { byId } = readConfig({ ...env, ...sandbox, ...settings }, { vendors }).vendors;
    const registry = await opened(byId, vendors);
    const readable = (['live', 'test'] as const).map((environment) =>
      [true, false].map((live) => [
        read(registry, 'adyen', fromAdyen(`adyen-${environment}-secret`, live)) !== null,
        read(
          registry,
          'stripe',
          fromStripe(environment === 'live' ? 'whsec_example' : 'whsec_of_the_sandbox', live),
        ) !== null,
      ]),
    );
    expect(readable).toEqual([
      [
        [true, true],
        [false, false],
      ],
      [
        [false, false],
        [true, true],
      ],
    ]);
    await registry.close();
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
