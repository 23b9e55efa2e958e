import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import { type Capability, CAPABILITIES } from '../../../kernel/vendor-choice.js';
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { EventStore, EventStoreUnavailable } from '../../../ports/event-store.js';
import { ReadModels } from '../../../ports/read-models.js';
import { CLOCK_KNOWN_MS, type TestClock } from '../../../ports/test-clocks.js';
import { Accounts, type AccountFacts, type Children, type ChildrenPage } from '../../../published/accounts.js';
import {
  account,
  type AccountEvent,
  type AccountState,
  type BehaviourWish,
  DEFAULT_SETTINGS,
  type OpenedAccount,
} from '../domain/account.js';
import { foldStream, RememberedStreams } from './remembered-streams.js';

const known = exhaustiveEvents<AccountEvent>('account', {
  AccountOpened: true,
  FeeSet: true,
  CurrencyChosen: true,
  PayerChosen: true,
  LiveTrafficProvisioned: true,
  LiveTrafficWithdrawn: true,
  PrepaidBillingAgreed: true,
  PrepaidBillingEnded: true,
  CertificationDemanded: true,
  CertificationWaived: true,
  PurposesCertified: true,
  PaymentAccountConnected: true,
  PaymentAccountDisconnected: true,
  ProductsChosen: true,
  ProductIdsChosen: true,
  TermsChosen: true,
  SupportContactChosen: true,
  BrandChosen: true,
  ApplicationFeeFixed: true,
  ApplicationFeeLimited: true,
  RefundDelaySet: true,
  AccountExchangeLimitSet: true,
  AccountSubmitLimitSet: true,
  VendorChosen: true,
  VendorChoiceRemoved: true,
  TestVendorBehaviourSet: true,
  TestClockAdvanced: true,
  DashboardTokenIssued: true,
});

/** An account with its newest settings, but without the brand, whose logo would make every list large. */
export interface AccountView extends Omit<AccountFacts, 'accountId' | 'brand'> {
  readonly exchangesPerMinute: number | null;
}

/** The list of all accounts, or of the direct children of one account. */
export const accountsList = (parent?: string): string => listOf({ parent });

/** The accounts that have turned their test clock. */
const TURNED = listOf({ clock: 'turned' });

export const accountProjection: Projection<AccountView, OpenedAccount> = {
  name: 'account',
  version: 13,
  category: account.category,
  evolve(state, event) {
    const next: AccountState = account.evolve(state ?? account.initial, known(event));
    if (next.status !== 'open') throw new Error(`${event.stream} begins with ${event.type}`);
    return next;
  },
  view: ({ name, parentId, settings, termsVersions, certification }) => ({
    name,
    parentId,
    consumerPays: settings.payer === 'consumer',
    feeCents: settings.feeCents,
    currency: settings.currency,
    provisionedForLive: settings.provisionedForLive,
    prepaidBilling: settings.prepaidBilling,
    purposeRequired: settings.purposeRequired,
    certification,
    connectedPaymentAccount: settings.connectedPaymentAccount,
    products: settings.products,
    productIds: settings.productIds,
    terms: settings.terms,
    termsVersions,
    supportContact: settings.supportContact,
    applicationFeeCents: settings.applicationFeeCents,
    maxApplicationFeeCents: settings.maxApplicationFeeCents,
    refundAfterDays: settings.refundAfterDays,
    exchangesPerMinute: settings.exchangesPerMinute,
    submitsPerMinute: settings.submitsPerMinute,
    vendors: settings.vendors,
  }),
  entries: ({ parentId, clock }) => [
    { list: accountsList() },
    ...(clock === null ? [] : [{ list: TURNED }]),
    ...(parentId === null ? [] : [{ list: accountsList(parentId) }]),
  ],
};

/** Settings of the account directory; also the injection token. */
export abstract class AccountsOptions {
  abstract readonly production: boolean;
  /** Whether the test environment has vendors of its own. Always true outside production. */
  abstract readonly testVendors: boolean;
}

export type FoundAccount = AccountView & AccountFacts;

/** Accounts, for the rest of the service and the operator. */
@Injectable()
export class AccountDirectory extends Accounts {
  private readonly accounts: RememberedStreams<AccountState, AccountEvent>;

  constructor(
    store: EventStore,
    private readonly options: AccountsOptions,
    private readonly clock: Clock,
    private readonly readModels: ReadModels,
  ) {
    super();
    this.accounts = new RememberedStreams(store, account, clock, 1_000);
  }

  override async find(accountId: string): Promise<AccountFacts | null> {
    return this.recall(accountId);
  }

  override mayReachVendors(facts: AccountFacts, environment: Environment): boolean {
    if (environment === 'test') return this.options.testVendors;
    return this.options.production && facts.provisionedForLive;
  }

  override async mayRead(readerId: string, ownerId: string): Promise<boolean> {
    return readerId === ownerId || (await this.find(ownerId))?.parentId === readerId;
  }

  /** The list says where to look. The log says who is a child. */
  override async childrenOf(accountId: string, { after, limit }: ChildrenPage): Promise<Children> {
    const { items, next } = await this.readModels.list(accountProjection, accountsList(accountId), {
      order: 'ascending',
      after: after === null ? null : { sort: '', id: after },
      limit,
    });
    const known = await Promise.all(items.map(({ id }) => this.find(id)));
    const ids = items.flatMap(({ id }, place) => (known[place]?.parentId === accountId ? [id] : []));
    return { ids, next: next?.id ?? null };
  }

  /** Like `find`, with fields that only this module uses. */
  async recall(accountId: string): Promise<FoundAccount | null> {
    return found(accountId, await this.accounts.recent(accountId));
  }

  /** The wishes that apply now. Reads the log, because a test expects its wish to apply to the next call. */
  async behaviours(accountId: string): Promise<readonly (BehaviourWish & { readonly capability: Capability })[]> {
    const state = await this.accounts.now(accountId);
    const now = this.clock.now().toISOString();
    return CAPABILITIES.flatMap((capability) => {
      const wish = state.status === 'open' ? state.behaviours[capability] : undefined;
      return wish === undefined || wish.until <= now ? [] : [{ capability, ...wish }];
    });
  }

  /** The account's test clock, at most `CLOCK_KNOWN_MS` old. While the log is unavailable, the clock stays as it was last seen. */
  async testClock(accountId: string): Promise<TestClock & { readonly provisionedForLive: boolean }> {
    let state: AccountState;
    try {
      state = await this.accounts.recent(accountId, CLOCK_KNOWN_MS);
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      state = this.accounts.last(accountId);
    }
    const { clock, settings } = state.status === 'open' ? state : { clock: null, settings: DEFAULT_SETTINGS };
    return {
      aheadMs: (clock?.aheadSeconds ?? 0) * 1_000,
      turnedTo: clock?.to ?? null,
      provisionedForLive: settings.provisionedForLive,
    };
  }

  /** The accounts that have turned their test clock, as the read models list them. */
  turned(): Promise<readonly string[]> {
    return this.readModels.idsIn(accountProjection, TURNED);
  }

  /** Reads the log, because a copy could be changed, and with it the rights to read reports. */
  async read(accountId: string): Promise<FoundAccount | null> {
    return found(accountId, await this.accounts.now(accountId));
  }
}

/** As `AccountDirectory.read`, for a command that reads each account once. */
export async function readAccount(events: EventStore, accountId: string): Promise<FoundAccount | null> {
  return found(accountId, (await foldStream(events, account, accountId)).state);
}

function found(accountId: string, state: AccountState): FoundAccount | null {
  if (state.status !== 'open') return null;
  const { brand } = state.settings;
  return {
    accountId,
    ...accountProjection.view(state),
    brand: { ...brand, displayName: brand.displayName ?? state.name },
  };
}
