import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { fold } from '../../../src/kernel/decider.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import type { Certification } from '../../../src/kernel/permissible-purpose.js';
import {
  account,
  permissionsOf,
  type AccountCommand,
  type AccountEvent,
} from '../../../src/modules/accounts/domain/account.js';
import { INSTALLATION_TERMS } from '../../../src/modules/screening/domain/installation-terms.js';

const OPENED: AccountEvent = { type: 'AccountOpened', data: { name: 'Acme', parentId: null } };
const PARENT = '0190a6d0-0000-7000-8000-000000000001';
const TERMS = { version: '2026-01', text: { en: ['Yes.'], es: ['Sí.'] } };

function given(...events: AccountEvent[]) {
  return {
    when: (command: AccountCommand) => account.decide(command, fold(account, events)),
    state: () => fold(account, events),
  };
}

function refusal(decide: () => unknown): DomainError {
  try {
    decide();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('Nothing was refused');
}

describe('an account', () => {
  it('is opened with the defaults when the command has no settings', () => {
    const events = given().when({ kind: 'open', name: ' Acme ', parentId: null, settings: {} });
    expect(events).toEqual([OPENED]);
    expect(given(...events).state()).toEqual({
      status: 'open',
      name: 'Acme',
      parentId: null,
      settings: {
        feeCents: 0,
        currency: 'usd',
        payer: 'account',
        provisionedForLive: false,
        prepaidBilling: false,
        purposeRequired: false,
        connectedPaymentAccount: null,
        products: ['CONSUMER', 'AGENT', 'PMC'],
        productIds: [],
        terms: null,
        exchangesPerMinute: null,
        submitsPerMinute: null,
        supportContact: null,
        brand: { displayName: null, logo: null, privacyUrl: null },
        applicationFeeCents: null,
        maxApplicationFeeCents: null,
        refundAfterDays: null,
        vendors: {},
      },
      termsVersions: [],
      termsDigests: [],
      certification: null,
      behaviours: {},
      clock: null,
    });
  });

  it('is opened under a parent, with one event for each setting that differs from the default', () => {
    const settings = { feeCents: 3_500, payer: 'consumer', prepaidBilling: true, currency: 'usd' } as const;
    expect(given().when({ kind: 'open', name: 'Acme', parentId: PARENT, settings })).toEqual([
      { type: 'AccountOpened', data: { name: 'Acme', parentId: PARENT } },
      { type: 'FeeSet', data: { feeCents: 3_500 } },
      { type: 'PayerChosen', data: { payer: 'consumer' } },
      { type: 'PrepaidBillingAgreed', data: {} },
    ]);
  });

  it('is opened only once', () => {
    expect(given(OPENED).when({ kind: 'open', name: 'Other', parentId: null, settings: { feeCents: 1 } })).toEqual([]);
  });

  it.each(['', '   ', 'x'.repeat(121)])('cannot have the name %j', (name) => {
    expect(refusal(() => given().when({ kind: 'open', name, parentId: null, settings: {} }))).toMatchObject({
      code: 'request.invalid',
      detail: { field: 'name' },
    });
  });

  it("changes nothing when its own terms are set again, and may return to the installation's terms", () => {
    const before: AccountEvent[] = [OPENED, { type: 'TermsChosen', data: { terms: TERMS } }];
    const again = { version: '2026-01', text: { es: ['Sí.'], en: ['Yes.'] } };
    expect(given(...before).when({ kind: 'set', settings: { terms: again } })).toEqual([]);
    const events = given(...before).when({ kind: 'set', settings: { terms: null } });
    expect(events).toEqual([{ type: 'TermsChosen', data: { terms: null } }]);
    expect(given(...before, ...events).state()).toMatchObject({
      settings: { terms: null },
      termsVersions: [TERMS.version],
    });
  });

  describe('an account with terms of its own', () => {
    const other = { version: '2026-02', text: { en: ['Yes, again.'] } };
    const before: AccountEvent[] = [TERMS, null, other].map((terms) => ({ type: 'TermsChosen', data: { terms } }));
    const setting = (terms: typeof TERMS | typeof other) => (): readonly AccountEvent[] =>
      given(OPENED, ...before).when({ kind: 'set', settings: { terms } });

    // A person may have agreed to a known version of the terms, so its text must never change.
    it.each([
      ['another paragraph', { version: '2026-01', text: { en: ['No.'], es: ['Sí.'] } }],
      ['one language fewer', { version: '2026-01', text: { en: ['Yes.'] } }],
      ['another paragraph, for the current version', { version: '2026-02', text: { en: ['No.'] } }],
    ])('refuses a known version with %s', (_, terms) => {
      expect(refusal(setting(terms))).toMatchObject({
        code: 'request.invalid',
        detail: { field: 'terms', details: [{ message: expect.stringContaining('another text already') }] },
      });
    });

    it('accepts an earlier version with the same text, and a new version', () => {
      expect(setting(TERMS)()).toEqual([{ type: 'TermsChosen', data: { terms: TERMS } }]);
      const next = { ...other, version: '2026-03' };
      expect(setting(next)()).toEqual([{ type: 'TermsChosen', data: { terms: next } }]);
    });

    it('changes its other settings even when an earlier release stored two texts for one version', () => {
      const twice: AccountEvent[] = [
        OPENED,
        ...before,
        { type: 'TermsChosen', data: { terms: { ...other, version: '2026-01' } } },
      ];
      expect(given(...twice).when({ kind: 'set', settings: { feeCents: 5 } })).toHaveLength(1);
    });
  });

  it("refuses terms with the version name of the installation's terms, even when the account is opened", () => {
    const settings = { terms: { ...TERMS, version: INSTALLATION_TERMS.version } };
    for (const decide of [
      () => given(OPENED).when({ kind: 'set', settings }),
      () => given().when({ kind: 'open', name: 'Acme', parentId: null, settings }),
    ])
      expect(refusal(decide)).toMatchObject({ code: 'request.invalid', detail: { field: 'terms' } });
  });

  it("may use the installation's terms, whose text never changes under one version", () => {
    expect([INSTALLATION_TERMS.version, hash('sha256', JSON.stringify(INSTALLATION_TERMS.text))]).toEqual([
      'standard-1',
      'e4abd0aba544d9d77c6812857d05276da095c9d99c68c5a86e6eaa349f6ac33d',
    ]);
  });

  it('records every setting as an event of its own and remembers it', () => {
    const events = given(OPENED).when({
      kind: 'set',
      settings: {
        feeCents: 100,
        currency: 'eur',
        payer: 'consumer',
        provisionedForLive: true,
        prepaidBilling: true,
        connectedPaymentAccount: 'acct_1',
        products: ['PMC', 'CONSUMER'],
        productIds: [2, 1, 2],
        terms: TERMS,
        exchangesPerMinute: 600,
        submitsPerMinute: 900,
      },
    });
    expect(events.map(({ type }) => type)).toEqual([
      'FeeSet',
      'CurrencyChosen',
      'PayerChosen',
      'LiveTrafficProvisioned',
      'PrepaidBillingAgreed',
      'PaymentAccountConnected',
      'ProductsChosen',
      'ProductIdsChosen',
      'TermsChosen',
      'AccountExchangeLimitSet',
      'AccountSubmitLimitSet',
    ]);
    expect(given(OPENED, ...events).state()).toMatchObject({
      settings: {
        feeCents: 100,
        currency: 'eur',
        payer: 'consumer',
        provisionedForLive: true,
        prepaidBilling: true,
        connectedPaymentAccount: 'acct_1',
        products: ['CONSUMER', 'PMC'],
        productIds: [1, 2],
        terms: TERMS,
        exchangesPerMinute: 600,
        submitsPerMinute: 900,
      },
    });
  });

  // Accounts once began with the first vendors as their choice, so that they could not choose the first vendor.
  it('chooses any vendor for one capability, even the first, and keeps the choices for the others', () => {
    const settings = { vendors: { identity: 'acme', credit: 'idv' } };
    const events = given(OPENED).when({ kind: 'set', settings });
    expect(events).toEqual([
      { type: 'VendorChosen', data: { capability: 'identity', vendor: 'acme' } },
      { type: 'VendorChosen', data: { capability: 'credit', vendor: 'idv' } },
    ]);
    expect(given(OPENED, ...events).state()).toMatchObject({ settings });
    expect(given(OPENED, ...events).when({ kind: 'set', settings })).toEqual([]);
    const removal = { kind: 'set', settings: { vendors: { identity: null, income: null, payment: null } } } as const;
    const removed = given(OPENED, ...events).when(removal);
    expect(removed).toEqual([{ type: 'VendorChoiceRemoved', data: { capability: 'identity' } }]);
    expect(given(OPENED, ...events, ...removed).state()).toMatchObject({ settings: { vendors: { credit: 'idv' } } });
    expect(given(OPENED, ...events, ...removed).when(removal)).toEqual([]);
  });

  it('remembers one behaviour for each test vendor until it ends, and records a repeated wish once', () => {
    const wish = { behaviour: 'down', until: '2026-03-01T13:00:00.000Z' } as const;
    const command = { kind: 'wish-behaviour', capability: 'credit', wish } as const;
    const events = given(OPENED).when(command);
    expect(events).toEqual([{ type: 'TestVendorBehaviourSet', data: { capability: 'credit', wish } }]);
    expect(given(OPENED, ...events).state()).toMatchObject({ behaviours: { credit: wish } });
    expect(given(OPENED, ...events).when(command)).toEqual([]);
    const ended = given(OPENED, ...events).when({ ...command, wish: null });
    expect(given(OPENED, ...events, ...ended).state()).toMatchObject({ behaviours: {} });
    expect(given(OPENED).when({ ...command, wish: null })).toEqual([]);
  });

  it('turns its test clock forward, and never back or more than 100 years ahead', () => {
    const machine = new Date('2026-03-01T12:00:00.000Z');
    const turn = { kind: 'turn-clock', machine } as const;
    const first = given(OPENED).when({ ...turn, bySeconds: 3_600 });
    expect(first).toEqual([
      { type: 'TestClockAdvanced', data: { aheadSeconds: 3_600, to: '2026-03-01T13:00:00.000Z' } },
    ]);
    const after = given(OPENED, ...first);
    expect(after.when({ ...turn, bySeconds: 1 })).toEqual([
      { type: 'TestClockAdvanced', data: { aheadSeconds: 3_601, to: '2026-03-01T13:00:01.000Z' } },
    ]);
    for (const aheadSeconds of [3_600, 0, -1, Number.NaN, 36_525 * 86_400 + 1])
      expect(() => after.when({ ...turn, aheadSeconds })).toThrow(DomainError);
    expect(() => after.when({ ...turn, bySeconds: 0 })).toThrow(DomainError);
    expect(after.when({ ...turn, aheadSeconds: 36_525 * 86_400 })).toMatchObject([
      { data: { to: '2126-03-02T12:00:00.000Z' } },
    ]);
  });

  it('removes a setting when the command gives null for it', () => {
    const before: AccountEvent[] = [
      OPENED,
      { type: 'LiveTrafficProvisioned', data: {} },
      { type: 'PrepaidBillingAgreed', data: {} },
      { type: 'CertificationDemanded', data: {} },
      { type: 'PaymentAccountConnected', data: { paymentAccountId: 'acct_1' } },
      { type: 'AccountExchangeLimitSet', data: { perMinute: 5 } },
    ];
    const settings = {
      provisionedForLive: false,
      prepaidBilling: false,
      purposeRequired: false,
      connectedPaymentAccount: null,
      exchangesPerMinute: null,
    };
    const events = given(...before).when({ kind: 'set', settings });
    expect(events.map(({ type }) => type)).toEqual([
      'LiveTrafficWithdrawn',
      'PrepaidBillingEnded',
      'CertificationWaived',
      'PaymentAccountDisconnected',
      'AccountExchangeLimitSet',
    ]);
    expect(given(...before, ...events).state()).toMatchObject({ settings });
  });

  describe('an account that certifies its purposes', () => {
    const now = new Date('2026-03-01T12:00:00Z');
    const certification: Certification = {
      purposes: ['TENANT_SCREENING'],
      by: 'user_17',
      textDigest: 'a'.repeat(64),
      until: '2027-03-01T12:00:00.000Z',
    };

    it('records each certification, and the newest one counts', () => {
      const first: AccountEvent = { type: 'PurposesCertified', data: certification };
      expect(given(OPENED).when({ kind: 'certify', now, certification })).toEqual([first]);
      const narrower: Certification = { ...certification, endUserTypes: ['PROPERTY_MANAGEMENT'] };
      const events = given(OPENED, first).when({ kind: 'certify', now, certification: narrower });
      expect(given(OPENED, first, ...events).state()).toMatchObject({ certification: narrower });
    });

    it.each<[string, object]>([
      ['purposes', { purposes: [] }],
      ['purposes', { purposes: ['CURIOSITY'] }],
      ['end-users', { endUserTypes: ['NEIGHBOUR'] }],
      ['by', { by: 'Ada Example' }],
      ['text', { textDigest: 'yes' }],
      ['until', { until: now.toISOString() }],
    ])('refuses wrong %s', (field, wrong) => {
      const command = { kind: 'certify', now, certification: { ...certification, ...wrong } } as const;
      expect(refusal(() => given(OPENED).when(command))).toMatchObject({ code: 'request.invalid', detail: { field } });
    });
  });

  it('keeps an unchecked currency of an earlier version until another currency is chosen', () => {
    const before = given(OPENED, { type: 'CurrencyChosen', data: { currency: 'xyz' } });
    expect(before.when({ kind: 'set', settings: { feeCents: 7 } })).toEqual([
      { type: 'FeeSet', data: { feeCents: 7 } },
    ]);
    expect(before.when({ kind: 'set', settings: { currency: 'jpy' } })).toEqual([
      { type: 'CurrencyChosen', data: { currency: 'jpy' } },
    ]);
  });

  it('accepts a brand field by field', () => {
    const brand = { displayName: 'Elm Street Homes', logo: null, privacyUrl: null };
    const chosen: AccountEvent = { type: 'BrandChosen', data: { brand } };
    const set = (wanted: object) => ({ kind: 'set', settings: { brand: wanted } }) as const;
    expect(given(OPENED).when(set({ displayName: ' Elm Street Homes ' }))).toEqual([chosen]);
    expect(given(OPENED, chosen).when(set({ displayName: 'Elm Street Homes' }))).toEqual([]);
    const privacyUrl = 'https://example.com/privacy';
    expect(given(OPENED, chosen).when(set({ privacyUrl }))).toEqual([
      { type: 'BrandChosen', data: { brand: { ...brand, privacyUrl } } },
    ]);
  });

  it.each([
    [{ displayName: '' }, 'display-name'],
    [{ displayName: 'x'.repeat(61) }, 'display-name'],
    [{ displayName: 'Elm\u202eStreet' }, 'display-name'],
    [{ privacyUrl: 'http://example.com/privacy' }, 'privacy'],
    [{ privacyUrl: 'javascript:alert(1)' }, 'privacy'],
    [{ privacyUrl: 'https://user@example.com/' }, 'privacy'],
    [{ privacyUrl: 'https://example.com/a b' }, 'privacy'],
  ])('refuses %j as its brand', (brand, field) => {
    expect(refusal(() => given(OPENED).when({ kind: 'set', settings: { brand } }))).toMatchObject({
      code: 'request.invalid',
      detail: { field },
    });
  });

  it.each([
    'help@example.com',
    "o'brien+screening@mail.example.co.uk",
    '+1 (202) 555-0143',
    '2025550143',
    'https://example.com/help?topic=screening#top',
    'http://localhost:8080/help',
  ])('accepts %j as its support contact, and removes it again', (contact) => {
    const chosen: AccountEvent = { type: 'SupportContactChosen', data: { supportContact: contact } };
    expect(given(OPENED).when({ kind: 'set', settings: { supportContact: ` ${contact} ` } })).toEqual([chosen]);
    const named = given(OPENED, chosen);
    expect(named.state()).toMatchObject({ settings: { supportContact: contact } });
    expect(named.when({ kind: 'set', settings: { supportContact: contact } })).toEqual([]);
    expect(named.when({ kind: 'set', settings: { supportContact: null } })).toEqual([
      { type: 'SupportContactChosen', data: { supportContact: null } },
    ]);
  });

  it.each([
    '',
    'help',
    '@example.com',
    'help@example',
    'help@exa mple.com',
    'help@example.com?bcc=other@example.com',
    'a@b@example.com',
    'mailto:help@example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com',
    'https://',
    'https://user:secret@example.com',
    'https://example.com/a b',
    'https://example.com/\u202ehelp',
    '//example.com/help',
    '123456',
    '+1234567890123456',
    '555-0143 ext. 2',
    '1+2025550143',
    `https://example.com/${'x'.repeat(240)}`,
  ])('refuses %j as a support contact', (supportContact) => {
    expect(refusal(() => given(OPENED).when({ kind: 'set', settings: { supportContact } }))).toMatchObject({
      code: 'request.invalid',
      detail: { field: 'support' },
    });
  });

  it('changes nothing when a setting has the same value already', () => {
    expect(
      given(OPENED, { type: 'FeeSet', data: { feeCents: 7 } }).when({
        kind: 'set',
        settings: { feeCents: 7, payer: 'account' },
      }),
    ).toEqual([]);
  });

  it.each([
    ['fee', { feeCents: -1 }],
    ['fee', { feeCents: 1.5 }],
    ['fee', { feeCents: 100_000_000 }],
    ['currency', { currency: 'USD' }],
    ['currency', { currency: 'xyz' }],
    ['currency', { currency: 'xxx' }],
    ['currency', { currency: 'us' }],
    ['currency', { currency: 'constructor' }],
    ['terms', { terms: { version: '1', text: { en: ['Half: \ud800'] } } }],
    ['payer', { payer: 'somebody' as never }],
    ['payment-account', { connectedPaymentAccount: 'cus_1' }],
    ['products', { products: [] }],
    ['products', { products: ['TENANT' as never] }],
    ['product-ids', { productIds: [0] }],
    ['product-ids', { productIds: [1.5] }],
    ['product-ids', { productIds: [2_147_483_648] }],
    ['product-ids', { productIds: Array.from({ length: 51 }, (_, id) => id + 1) }],
    ['terms', { terms: { ...TERMS, version: 'with spaces' } }],
    ['terms', { terms: { ...TERMS, version: 'v'.repeat(41) } }],
    ['terms', { terms: { version: '1', text: { en: [] } } }],
    ['terms', { terms: { version: '1', text: { en: ['Yes.'], es: [] } } }],
    ['terms', { terms: { version: '1', text: { en: ['Yes.', ' '] } } }],
    ['terms', { terms: { version: '1', text: { en: ['Yes.', 'x'.repeat(4_001)] } } }],
    ['terms', { terms: { version: '1', text: { en: ['Yes.\u0007'] } } }],
    ['terms', { terms: { version: '1', text: { en: Array.from({ length: 41 }, () => 'Yes.') } } }],
    ['per-minute', { exchangesPerMinute: 0 }],
    ['per-minute', { exchangesPerMinute: 100_001 }],
    ['submits-per-minute', { submitsPerMinute: 0 }],
  ])('refuses a wrong value of %s', (field, settings) => {
    expect(refusal(() => given(OPENED).when({ kind: 'set', settings }))).toMatchObject({
      code: 'request.invalid',
      detail: { field },
    });
  });

  it('that was never opened has no settings and no dashboard', () => {
    expect(refusal(() => given().when({ kind: 'set', settings: {} })).code).toBe('request.not_found');
    const issue = {
      kind: 'issue-dashboard-token',
      tokenId: 't',
      userId: 'u',
      role: 'OWNER',
      expiresAt: '2026-01-01T00:00:00.000Z',
    } as const;
    expect(refusal(() => given().when(issue)).code).toBe('request.not_found');
  });

  it('records each issued dashboard token without its text', () => {
    const issue = {
      kind: 'issue-dashboard-token',
      tokenId: 't',
      userId: 'u-1',
      role: 'DEVELOPER',
      expiresAt: '2026-01-01T00:00:00.000Z',
    } as const;
    const { kind: _, ...data } = issue;
    expect(given(OPENED).when(issue)).toEqual([{ type: 'DashboardTokenIssued', data }]);
  });

  it('refuses a mail address as a dashboard user', () => {
    const issue = {
      kind: 'issue-dashboard-token',
      tokenId: 't',
      userId: 'ada@example.test',
      role: 'OWNER',
      expiresAt: '',
    } as const;
    expect(refusal(() => given(OPENED).when(issue))).toMatchObject({
      code: 'request.invalid',
      detail: { field: 'user' },
    });
  });

  it('lets owners and administrators, but not developers, manage webhooks', () => {
    expect(permissionsOf('OWNER')).toContain('webhooks:manage');
    expect(permissionsOf('ADMINISTRATOR')).toContain('webhooks:manage');
    expect(permissionsOf('DEVELOPER')).toEqual([]);
  });
});
