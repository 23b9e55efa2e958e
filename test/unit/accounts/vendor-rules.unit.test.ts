// The currency and fee of an account must be possible at the payment processor (docs/contract/server.md). The rules are
// its currencies and their smallest units.
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { VendorRules } from '../../../src/modules/accounts/application/vendor-rules.js';
import { DEFAULT_SETTINGS, type SettingsToSet } from '../../../src/modules/accounts/domain/account.js';
import { findVendors, VendorRegistry } from '../../../src/vendor-kit/registry.js';
import { CURRENCIES } from '../../../src/vendors/stripe/currencies.js';

const registry = new VendorRegistry(await findVendors(), {});
const refused = (settings: SettingsToSet, now = DEFAULT_SETTINGS): string | undefined => {
  try {
    new VendorRules(registry).check(settings, now);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.detail.field;
    throw error;
  }
};

describe('the currency of an account', () => {
  it.each([
    ['usd', 3_501, undefined],
    ['jpy', 3_501, undefined],
    ['kwd', 3_510, undefined],
    ['isk', 3_500, undefined],
    ['kwd', 3_505, 'fee'],
    ['isk', 3_550, 'fee'],
    ['ugx', 1, 'fee'],
    // ISO 4217 has this code, but the processor accepts no payments in it.
    ['mru', 3_500, 'currency'],
    ['constructor', 3_500, 'currency'],
  ] as const)('%s together with a fee of %s: the refused setting is %s', (currency, feeCents, field) => {
    expect(refused({ currency, feeCents })).toBe(field);
    expect(refused({ feeCents }, { ...DEFAULT_SETTINGS, currency })).toBe(field);
    expect(refused({ currency }, { ...DEFAULT_SETTINGS, feeCents })).toBe(field);
  });

  it('is not checked when another setting is changed', () => {
    expect(refused({ payer: 'consumer' }, { ...DEFAULT_SETTINGS, currency: 'xyz', feeCents: 1 })).toBeUndefined();
  });
});

it('every currency of the processor is known to the runtime', () => {
  const known = Intl.supportedValuesOf('currency').map((code) => code.toLowerCase());
  expect(Object.keys(CURRENCIES).filter((code) => !known.includes(code))).toEqual([]);
  expect(Object.keys(CURRENCIES)).toHaveLength(new Set(Object.keys(CURRENCIES)).size);
  expect(Object.keys(CURRENCIES).length).toBeGreaterThan(130);
});
