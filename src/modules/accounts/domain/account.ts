import { createHash } from 'node:crypto';
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { Certification } from '../../../kernel/permissible-purpose.js';
import type { VendorBehaviour } from '../../../kernel/vendor-behaviour.js';
import { INSTALLATION_VERSIONS, TERMS_VERSION, type Terms } from '../../../kernel/terms.js';
import {
  type Capability,
  CHOSEN_CAPABILITIES,
  type ChosenCapability,
  type ChosenVendors,
} from '../../../kernel/vendor-choice.js';
import { faultIn } from './certification.js';
import { urlIn } from '../../../kernel/url.js';

export const PRODUCTS = ['CONSUMER', 'AGENT', 'PMC'] as const;
/** A kind of user that an account may screen. */
export type Product = (typeof PRODUCTS)[number];

/** The party that pays for the screening of a consumer. */
export const PAYERS = ['consumer', 'account'] as const;
export type Payer = (typeof PAYERS)[number];

export const ROLES = ['OWNER', 'ADMINISTRATOR', 'DEVELOPER'] as const;
export type Role = (typeof ROLES)[number];

export interface Settings {
  /** Cents, 0 to 99,999,999: the lowest price of one screening for a consumer. */
  readonly feeCents: number;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  readonly payer: Payer;
  readonly provisionedForLive: boolean;
  readonly prepaidBilling: boolean;
  /** Whether every read of a report must name a purpose that the account has certified. */
  readonly purposeRequired: boolean;
  /** `acct_...` at the payment processor; null if the account has connected none. */
  readonly connectedPaymentAccount: string | null;
  readonly products: readonly Product[];
  /** The products of the identity vendor that pages of the account may name. */
  readonly productIds: readonly number[];
  /** The terms that people accept on the account's pages. With null, the installation's terms apply. */
  readonly terms: Terms | null;
  /** A mail address, a phone number or a web address where people get help on the account's pages. With null, the pages show no contact. */
  readonly supportContact: string | null;
  readonly brand: Brand;
  /** The cents of each payment that the platform keeps, even if a page gives another fee. With null, the grant or the page decides. */
  readonly applicationFeeCents: number | null;
  /** The largest part of a payment that the platform may keep, in cents. With null, the general limit applies. */
  readonly maxApplicationFeeCents: number | null;
  /** The days from the first refused pull of a report to the refund of its payment, 1 to 365. With null, the service makes no automatic refunds. */
  readonly refundAfterDays: number | null;
  /** Token exchanges per minute of each publishable key that has no limit of its own. With null, the installation's limit applies. */
  readonly exchangesPerMinute: number | null;
  /** Submissions per minute in each environment. With null, the installation's limit applies. */
  readonly submitsPerMinute: number | null;
  /** The vendors of the account's new sessions. A session keeps the vendors with which it began. */
  readonly vendors: ChosenVendors;
}

/** The appearance of the account on its pages. */
export interface Brand {
  /** 1 to 60 characters. With null, the pages show the account's name. */
  readonly displayName: string | null;
  /** A PNG or an SVG from `reencodedLogo`, in base64. With null, the pages show no logo. */
  readonly logo: string | null;
  /** The https address of the account's privacy notice. With null, the pages link to no notice. */
  readonly privacyUrl: string | null;
}

/** Settings that are not named stay as they are. */
export type SettingsToSet = Partial<Omit<Settings, 'vendors' | 'brand'>> & {
  /** Null removes the choice. */
  readonly vendors?: Readonly<Partial<Record<ChosenCapability, string | null>>>;
  readonly brand?: Partial<Brand>;
};

const BRAND_FIELDS = ['displayName', 'logo', 'privacyUrl'] as const satisfies readonly (keyof Brand)[];
/** The ISO 4217 codes that this runtime knows, in lowercase. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));
const MAX_PRODUCT_IDS = 50;
/** The greatest integer that the vendor accepts. */
const MAX_INT = 2_147_483_647;
const MAX_PARAGRAPHS = 40;
const MAX_PARAGRAPH = 4_000;
const MAX_SUPPORT_CONTACT = 254;
const MAX_DISPLAY_NAME = 60;
/** 100 years. Times must keep years of four digits, because lists sort them as texts. */
const MOST_AHEAD_SECONDS = 36_525 * 86_400;
const MAX_ADDRESS = 500;

export const DEFAULT_SETTINGS: Settings = {
  feeCents: 0,
  currency: 'usd',
  payer: 'account',
  provisionedForLive: false,
  prepaidBilling: false,
  purposeRequired: false,
  connectedPaymentAccount: null,
  products: PRODUCTS,
  productIds: [],
  terms: null,
  supportContact: null,
  brand: { displayName: null, logo: null, privacyUrl: null },
  applicationFeeCents: null,
  maxApplicationFeeCents: null,
  refundAfterDays: null,
  exchangesPerMinute: null,
  submitsPerMinute: null,
  vendors: {},
};

/** A behaviour of the account's test vendors until a time, ISO 8601 UTC. */
export interface BehaviourWish {
  readonly behaviour: VendorBehaviour;
  readonly until: string;
}

export type AccountCommand =
  | {
      readonly kind: 'open';
      readonly name: string;
      readonly parentId: string | null;
      readonly settings: SettingsToSet;
    }
  | { readonly kind: 'set'; readonly settings: SettingsToSet }
  | { readonly kind: 'certify'; readonly certification: Certification; readonly now: Date }
  /** `wish` null: the vendor behaves as usual again. */
  | { readonly kind: 'wish-behaviour'; readonly capability: Capability; readonly wish: BehaviourWish | null }
  /** Turns the test clock by some seconds, or until it is some seconds ahead of the machine's time. `machine`: the machine's time. */
  | ({ readonly kind: 'turn-clock'; readonly machine: Date } & (
      { readonly bySeconds: number } | { readonly aheadSeconds: number }
    ))
  | {
      readonly kind: 'issue-dashboard-token';
      readonly tokenId: string;
      readonly userId: string;
      readonly role: Role;
      readonly expiresAt: string;
    };

export type AccountEvent =
  | DomainEvent<'AccountOpened', { readonly name: string; readonly parentId: string | null }>
  | DomainEvent<'FeeSet', { readonly feeCents: number }>
  | DomainEvent<'CurrencyChosen', { readonly currency: string }>
  | DomainEvent<'PayerChosen', { readonly payer: Payer }>
  | DomainEvent<'LiveTrafficProvisioned', Record<never, never>>
  | DomainEvent<'LiveTrafficWithdrawn', Record<never, never>>
  | DomainEvent<'PrepaidBillingAgreed', Record<never, never>>
  | DomainEvent<'PrepaidBillingEnded', Record<never, never>>
  /** Every read of a report must name a certified purpose from now on. */
  | DomainEvent<'CertificationDemanded', Record<never, never>>
  | DomainEvent<'CertificationWaived', Record<never, never>>
  /** The certification before is void. */
  | DomainEvent<'PurposesCertified', Certification>
  | DomainEvent<'PaymentAccountConnected', { readonly paymentAccountId: string }>
  | DomainEvent<'PaymentAccountDisconnected', Record<never, never>>
  | DomainEvent<'ProductsChosen', { readonly products: readonly Product[] }>
  | DomainEvent<'ProductIdsChosen', { readonly productIds: readonly number[] }>
  /** The account wrote the text, and the text names no person. With null, the installation's text applies again. */
  | DomainEvent<'TermsChosen', { readonly terms: Terms | null }>
  /** The contact is the company's, so it is not personal data. */
  | DomainEvent<'SupportContactChosen', { readonly supportContact: string | null }>
  /** The brand is the company's, so it is not personal data. */
  | DomainEvent<'BrandChosen', { readonly brand: Brand }>
  | DomainEvent<'ApplicationFeeFixed', { readonly applicationFeeCents: number | null }>
  | DomainEvent<'ApplicationFeeLimited', { readonly maxApplicationFeeCents: number | null }>
  /** The setting applies to payments that are opened later. */
  | DomainEvent<'RefundDelaySet', { readonly refundAfterDays: number | null }>
  | DomainEvent<'AccountExchangeLimitSet', { readonly perMinute: number | null }>
  | DomainEvent<'AccountSubmitLimitSet', { readonly perMinute: number | null }>
  | DomainEvent<'VendorChosen', { readonly capability: ChosenCapability; readonly vendor: string }>
  /** The route of the installation applies again. */
  | DomainEvent<'VendorChoiceRemoved', { readonly capability: ChosenCapability }>
  /** Affects only calls of the test environment. */
  | DomainEvent<'TestVendorBehaviourSet', { readonly capability: Capability; readonly wish: BehaviourWish | null }>
  /** The account's time in the test environment, from now on. `to`: the account's time after the turn (ISO 8601 UTC). */
  | DomainEvent<'TestClockAdvanced', { readonly aheadSeconds: number; readonly to: string }>
  | DomainEvent<
      'DashboardTokenIssued',
      { readonly tokenId: string; readonly userId: string; readonly role: Role; readonly expiresAt: string }
    >;

export type AccountState = { readonly status: 'unknown' } | OpenedAccount;

export interface OpenedAccount {
  readonly status: 'open';
  readonly name: string;
  readonly parentId: string | null;
  readonly settings: Settings;
  /** The versions of all texts that the account ever had. A person may have accepted a text that was replaced in the meantime. */
  readonly termsVersions: readonly string[];
  /** The digests of these texts, each after its version and a space. A version always names the same text. */
  readonly termsDigests: readonly string[];
  /** The newest certification, whose time may be over. */
  readonly certification: Certification | null;
  /** A wish whose time has passed has no effect. */
  readonly behaviours: Readonly<Partial<Record<Capability, BehaviourWish>>>;
  /** The newest turn of the test clock. */
  readonly clock: Extract<AccountEvent, { type: 'TestClockAdvanced' }>['data'] | null;
}

/**
 * An account holder. An account holder is a company, so its name is not personal data. A second opening changes nothing, and neither does a setting
 * with its present value.
 */
export const account: Decider<AccountState, AccountCommand, AccountEvent> = {
  category: 'account',
  initial: { status: 'unknown' },

  decide(command, state) {
    switch (command.kind) {
      case 'open': {
        if (state.status === 'open') return [];
        const name = command.name.trim();
        if (name === '' || name.length > 120) throw wrong('name', 'The name of an account has 1 to 120 characters.');
        if (command.parentId !== null && !isId(command.parentId))
          throw wrong('parent', 'The parent must be the id of an account.');
        return [
          { type: 'AccountOpened', data: { name, parentId: command.parentId } },
          ...settingEvents(command.settings, DEFAULT_SETTINGS, []),
        ];
      }
      case 'set': {
        const { settings, termsDigests } = opened(state);
        return settingEvents(command.settings, settings, termsDigests);
      }
      case 'certify': {
        opened(state);
        const fault = faultIn(command.certification, command.now);
        if (fault !== null) throw wrong(fault.field, fault.message);
        return [{ type: 'PurposesCertified', data: command.certification }];
      }
      case 'wish-behaviour': {
        const { capability, wish } = command;
        const before = opened(state).behaviours[capability] ?? null;
        if (before?.behaviour === wish?.behaviour && before?.until === wish?.until) return [];
        return [{ type: 'TestVendorBehaviourSet', data: { capability, wish } }];
      }
      case 'turn-clock':
        return [turned(command, opened(state))];
      case 'issue-dashboard-token': {
        opened(state);
        const { tokenId, userId, role, expiresAt } = command;
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(userId))
          throw wrong('user', 'The user id has 1 to 64 letters, digits, dashes and underscores.');
        if (!ROLES.includes(role)) throw wrong('role', `The role must be one of ${ROLES.join(', ')}.`);
        return [{ type: 'DashboardTokenIssued', data: { tokenId, userId, role, expiresAt } }];
      }
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    if (event.type === 'AccountOpened') {
      return {
        status: 'open',
        name: event.data.name,
        parentId: event.data.parentId,
        settings: DEFAULT_SETTINGS,
        termsVersions: [],
        termsDigests: [],
        certification: null,
        behaviours: {},
        clock: null,
      };
    }
    if (state.status !== 'open') return state;
    const set = (settings: Partial<Settings>): OpenedAccount => ({
      ...state,
      settings: { ...state.settings, ...settings },
    });
    switch (event.type) {
      case 'FeeSet':
        return set({ feeCents: event.data.feeCents });
      case 'CurrencyChosen':
        return set({ currency: event.data.currency });
      case 'PayerChosen':
        return set({ payer: event.data.payer });
      case 'LiveTrafficProvisioned':
        return set({ provisionedForLive: true });
      case 'LiveTrafficWithdrawn':
        return set({ provisionedForLive: false });
      case 'PrepaidBillingAgreed':
        return set({ prepaidBilling: true });
      case 'PrepaidBillingEnded':
        return set({ prepaidBilling: false });
      case 'CertificationDemanded':
        return set({ purposeRequired: true });
      case 'CertificationWaived':
        return set({ purposeRequired: false });
      case 'PurposesCertified':
        return { ...state, certification: event.data };
      case 'PaymentAccountConnected':
        return set({ connectedPaymentAccount: event.data.paymentAccountId });
      case 'PaymentAccountDisconnected':
        return set({ connectedPaymentAccount: null });
      case 'ProductsChosen':
        return set({ products: event.data.products });
      case 'TermsChosen': {
        const { terms } = event.data;
        if (terms === null) return set({ terms });
        return {
          ...set({ terms }),
          termsVersions: [...new Set([...state.termsVersions, terms.version])],
          termsDigests: [...new Set([...state.termsDigests, digestOf(terms)])],
        };
      }
      case 'ProductIdsChosen':
      case 'SupportContactChosen':
      case 'BrandChosen':
      case 'ApplicationFeeFixed':
      case 'ApplicationFeeLimited':
      case 'RefundDelaySet':
        return set(event.data);
      case 'AccountExchangeLimitSet':
        return set({ exchangesPerMinute: event.data.perMinute });
      case 'AccountSubmitLimitSet':
        return set({ submitsPerMinute: event.data.perMinute });
      case 'VendorChosen':
        return set({ vendors: { ...state.settings.vendors, [event.data.capability]: event.data.vendor } });
      case 'VendorChoiceRemoved': {
        const { [event.data.capability]: _before, ...vendors } = state.settings.vendors;
        return set({ vendors });
      }
      case 'TestVendorBehaviourSet': {
        const { [event.data.capability]: _before, ...others } = state.behaviours;
        const { capability, wish } = event.data;
        return { ...state, behaviours: wish === null ? others : { ...others, [capability]: wish } };
      }
      case 'TestClockAdvanced':
        return { ...state, clock: event.data };
      case 'DashboardTokenIssued':
        return state;
      default:
        event satisfies never;
        return state;
    }
  },
};

/** The role's rights at the dashboard (docs/contract/webhooks.md#dashboard-tokens). */
export function permissionsOf(role: Role): readonly string[] {
  return role === 'DEVELOPER' ? [] : ['webhooks:manage'];
}

function opened(state: AccountState): OpenedAccount {
  if (state.status !== 'open') throw new DomainError('request.not_found', { field: 'account' });
  return state;
}

function turned(
  command: Extract<AccountCommand, { kind: 'turn-clock' }>,
  { clock }: OpenedAccount,
): Extract<AccountEvent, { type: 'TestClockAdvanced' }> {
  const before = clock?.aheadSeconds ?? 0;
  const aheadSeconds = 'bySeconds' in command ? before + command.bySeconds : command.aheadSeconds;
  const field = 'bySeconds' in command ? 'test.advance' : 'test.to';
  if (!(aheadSeconds > before)) throw fieldError('request.invalid', field, 'must turn the clock forward');
  if (aheadSeconds > MOST_AHEAD_SECONDS)
    throw fieldError('request.invalid', field, 'must leave the clock at most 100 years ahead of the real time');
  const to = new Date(command.machine.getTime() + aheadSeconds * 1_000).toISOString();
  return { type: 'TestClockAdvanced', data: { aheadSeconds, to } };
}

function settingEvents(wanted: SettingsToSet, current: Settings, termsDigests: readonly string[]): AccountEvent[] {
  const next = checked({
    ...current,
    ...wanted,
    vendors: current.vendors,
    brand: { ...current.brand, ...checkedBrand(wanted.brand ?? {}) },
  });
  return [
    ...billingEvents(next, current),
    ...productEvents(next, current, termsDigests),
    ...feeEvents(next, current),
    ...limitEvents(next, current),
    ...vendorEvents(wanted.vendors ?? {}, current.vendors),
  ];
}

function vendorEvents(wanted: NonNullable<SettingsToSet['vendors']>, current: ChosenVendors): AccountEvent[] {
  return CHOSEN_CAPABILITIES.flatMap((capability): AccountEvent[] => {
    const vendor = wanted[capability];
    if (vendor === undefined || vendor === (current[capability] ?? null)) return [];
    if (vendor === null) return [{ type: 'VendorChoiceRemoved', data: { capability } }];
    return [{ type: 'VendorChosen', data: { capability, vendor } }];
  });
}

function billingEvents(next: Settings, current: Settings): AccountEvent[] {
  const events: AccountEvent[] = [];
  if (next.feeCents !== current.feeCents) events.push({ type: 'FeeSet', data: { feeCents: next.feeCents } });
  if (next.currency !== current.currency) {
    // A currency that was chosen before this check existed stays valid until another is chosen.
    if (!CURRENCIES.has(next.currency))
      throw wrong('currency', 'The currency must be a lowercase ISO 4217 code such as usd.');
    events.push({ type: 'CurrencyChosen', data: { currency: next.currency } });
  }
  if (next.payer !== current.payer) events.push({ type: 'PayerChosen', data: { payer: next.payer } });
  if (next.provisionedForLive !== current.provisionedForLive) {
    events.push({ type: next.provisionedForLive ? 'LiveTrafficProvisioned' : 'LiveTrafficWithdrawn', data: {} });
  }
  if (next.prepaidBilling !== current.prepaidBilling) {
    events.push({ type: next.prepaidBilling ? 'PrepaidBillingAgreed' : 'PrepaidBillingEnded', data: {} });
  }
  if (next.purposeRequired !== current.purposeRequired) {
    events.push({ type: next.purposeRequired ? 'CertificationDemanded' : 'CertificationWaived', data: {} });
  }
  if (next.connectedPaymentAccount !== current.connectedPaymentAccount) {
    events.push(
      next.connectedPaymentAccount === null
        ? { type: 'PaymentAccountDisconnected', data: {} }
        : { type: 'PaymentAccountConnected', data: { paymentAccountId: next.connectedPaymentAccount } },
    );
  }
  return events;
}

function productEvents(next: Settings, current: Settings, termsDigests: readonly string[]): AccountEvent[] {
  const events: AccountEvent[] = [];
  if (next.products.join() !== current.products.join())
    events.push({ type: 'ProductsChosen', data: { products: next.products } });
  const { productIds, terms } = next;
  if (productIds.join() !== current.productIds.join()) events.push({ type: 'ProductIdsChosen', data: { productIds } });
  if (wordingOf(terms) !== wordingOf(current.terms)) {
    if (terms !== null) refuseOtherText(terms, termsDigests);
    events.push({ type: 'TermsChosen', data: { terms } });
  }
  const { supportContact } = next;
  if (supportContact !== current.supportContact)
    events.push({ type: 'SupportContactChosen', data: { supportContact } });
  if (BRAND_FIELDS.some((field) => next.brand[field] !== current.brand[field]))
    events.push({ type: 'BrandChosen', data: { brand: next.brand } });
  return events;
}

function feeEvents(next: Settings, current: Settings): AccountEvent[] {
  const { applicationFeeCents, maxApplicationFeeCents, refundAfterDays } = next;
  const events: AccountEvent[] = [];
  if (applicationFeeCents !== current.applicationFeeCents)
    events.push({ type: 'ApplicationFeeFixed', data: { applicationFeeCents } });
  if (maxApplicationFeeCents !== current.maxApplicationFeeCents)
    events.push({ type: 'ApplicationFeeLimited', data: { maxApplicationFeeCents } });
  if (refundAfterDays !== current.refundAfterDays) events.push({ type: 'RefundDelaySet', data: { refundAfterDays } });
  return events;
}

function limitEvents(next: Settings, current: Settings): AccountEvent[] {
  const events: AccountEvent[] = [];
  if (next.exchangesPerMinute !== current.exchangesPerMinute) {
    events.push({ type: 'AccountExchangeLimitSet', data: { perMinute: next.exchangesPerMinute } });
  }
  if (next.submitsPerMinute !== current.submitsPerMinute) {
    events.push({ type: 'AccountSubmitLimitSet', data: { perMinute: next.submitsPerMinute } });
  }
  return events;
}

function checked(settings: Settings): Settings {
  const { feeCents, payer, connectedPaymentAccount, products, exchangesPerMinute, submitsPerMinute } = settings;
  if (!Number.isSafeInteger(feeCents) || feeCents < 0 || feeCents > 99_999_999) {
    throw wrong('fee', 'The fee must be a whole number of cents from 0 to 99999999.');
  }
  if (!PAYERS.includes(payer)) throw wrong('payer', `The payer must be one of ${PAYERS.join(', ')}.`);
  if (connectedPaymentAccount !== null && !/^acct_[A-Za-z0-9_]{1,250}$/.test(connectedPaymentAccount)) {
    throw wrong('payment-account', 'The connected payment account must be an id that begins with acct_.');
  }
  if (products.length === 0 || !products.every((product) => PRODUCTS.includes(product))) {
    throw wrong('products', `The products must be one or more of ${PRODUCTS.join(', ')}.`);
  }
  const productIds = [...new Set(settings.productIds)].sort((one, other) => one - other);
  if (
    productIds.length > MAX_PRODUCT_IDS ||
    !productIds.every((id) => Number.isInteger(id) && id >= 1 && id <= MAX_INT)
  )
    throw wrong(
      'product-ids',
      `The product ids must be at most ${MAX_PRODUCT_IDS} whole numbers from 1 to ${MAX_INT}.`,
    );
  if (settings.terms !== null) checkTerms(settings.terms);
  const supportContact = settings.supportContact?.trim() ?? null;
  if (supportContact !== null && !isSupportContact(supportContact))
    throw wrong(
      'support',
      `The support contact must be a mail address, a phone number or an http or https address, of at most ${MAX_SUPPORT_CONTACT} characters.`,
    );
  checkPayments(settings);
  checkPerMinute(exchangesPerMinute);
  checkPerMinute(submitsPerMinute, 'submits-per-minute');
  return {
    ...settings,
    products: PRODUCTS.filter((product) => products.includes(product)),
    productIds,
    supportContact,
  };
}

function checkPayments({ applicationFeeCents, maxApplicationFeeCents, refundAfterDays }: Settings): void {
  checkApplicationFee('application-fee', applicationFeeCents);
  checkApplicationFee('max-application-fee', maxApplicationFeeCents);
  if (applicationFeeCents !== null && maxApplicationFeeCents !== null && applicationFeeCents > maxApplicationFeeCents) {
    throw wrong('application-fee', 'The application fee must not be more than the most that it may be.');
  }
  if (
    refundAfterDays !== null &&
    !(Number.isSafeInteger(refundAfterDays) && refundAfterDays >= 1 && refundAfterDays <= 365)
  )
    throw wrong('refund-after-days', 'The days until a refund must be a whole number from 1 to 365.');
}

function checkedBrand({ displayName, logo, privacyUrl }: Partial<Brand>): Partial<Brand> {
  const name = displayName?.trim() ?? displayName;
  if (typeof name === 'string' && (name === '' || name.length > MAX_DISPLAY_NAME || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(name)))
    throw wrong(
      'display-name',
      `The display name has 1 to ${MAX_DISPLAY_NAME} characters, without control characters.`,
    );
  if (typeof privacyUrl === 'string' && !isPrivacyUrl(privacyUrl))
    throw wrong('privacy', `The privacy link must be an https address of at most ${MAX_ADDRESS} characters.`);
  return {
    ...(name !== undefined && { displayName: name }),
    ...(logo !== undefined && { logo }),
    ...(privacyUrl !== undefined && { privacyUrl }),
  };
}

function isPrivacyUrl(text: string): boolean {
  if (text.length > MAX_ADDRESS || !/^https:\/\/[^\s\p{Cc}\p{Cf}\p{Cs}]+$/iu.test(text)) return false;
  const url = urlIn(text);
  return url !== null && !url.username && !url.password;
}

/** The component makes a link of the contact (web/frame/parts/support.tsx). */
function isSupportContact(text: string): boolean {
  if (text.length > MAX_SUPPORT_CONTACT || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(text)) return false;
  if (/^https?:\/\//i.test(text)) {
    const { hostname = '', username, password } = urlIn(text) ?? {};
    return hostname !== '' && !username && !password && !/\s/.test(text);
  }
  if (text.includes('@')) return /^[\w.+'-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*$/i.test(text);
  return /^\+?[0-9 ().-]+$/.test(text) && /^[0-9]{7,15}$/.test(text.replaceAll(/[^0-9]/g, ''));
}

/** Returns the same text for the same terms. */
function wordingOf(terms: Terms | null): string {
  return JSON.stringify(terms && [terms.version, terms.text.en, terms.text.es]);
}

function digestOf(terms: Terms): string {
  return `${terms.version} ${createHash('sha256').update(wordingOf(terms)).digest('hex')}`;
}

/** A person accepts a version, so the version must always name the same text. */
function refuseOtherText(terms: Terms, termsDigests: readonly string[]): void {
  if (terms.version.startsWith(INSTALLATION_VERSIONS))
    throw wrong(
      'terms',
      `The version of the terms must not begin with ${INSTALLATION_VERSIONS}: such versions are the installation's.`,
    );
  const known = termsDigests.some((digest) => digest.startsWith(`${terms.version} `));
  if (known && !termsDigests.includes(digestOf(terms)))
    throw wrong('terms', 'This version of the terms has another text already. Give the new text a new version.');
}

function checkTerms({ version, text }: Terms): void {
  if (!TERMS_VERSION.test(version))
    throw wrong('terms', 'The version of the terms has 1 to 40 letters, digits, dots, dashes and underscores.');
  for (const paragraphs of [text.en, ...(text.es === undefined ? [] : [text.es])]) {
    const fit = paragraphs.every(
      (one) => one.trim() !== '' && one.length <= MAX_PARAGRAPH && !/[\p{Cc}\p{Cs}]/u.test(one),
    );
    if (paragraphs.length === 0 || paragraphs.length > MAX_PARAGRAPHS || !fit)
      throw wrong(
        'terms',
        `The terms have, in each language, 1 to ${MAX_PARAGRAPHS} paragraphs of 1 to ${MAX_PARAGRAPH} characters, without control characters.`,
      );
  }
}

function checkApplicationFee(field: string, cents: number | null): void {
  if (cents === null) return;
  if (!Number.isSafeInteger(cents) || cents < 0 || cents > 1_000_000)
    throw wrong(field, 'The application fee must be a whole number of cents from 0 to 1000000.');
}

/** The rate limit of an account or of a key. */
export function checkPerMinute(perMinute: number | null, field = 'per-minute'): void {
  if (perMinute === null) return;
  if (!Number.isSafeInteger(perMinute) || perMinute < 1 || perMinute > 100_000) {
    throw wrong(field, 'The limit a minute must be a whole number from 1 to 100000.');
  }
}

/** The message never quotes the value. */
export function wrong(field: string, message: string): DomainError {
  return new DomainError('request.invalid', { field, details: [{ field, message }] });
}
