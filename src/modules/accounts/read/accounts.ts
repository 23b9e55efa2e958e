import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { account, type AccountEvent, type AccountState, type OpenedAccount } from '../domain/account.js';
import { TtlCache } from './ttl-cache.js';

const known = exhaustiveEvents<AccountEvent>('account', {
  AccountOpened: true,
  FeeSet: true,
  CurrencyChosen: true,
  PayerChosen: true,
  LiveTrafficProvisioned: true,
  LiveTrafficWithdrawn: true,
  PrepaidBillingAgreed: true,
  PrepaidBillingEnded: true,
  PaymentAccountConnected: true,
  PaymentAccountDisconnected: true,
  ProductsChosen: true,
  ApplicationFeeFixed: true,
  ApplicationFeeLimited: true,
  AccountExchangeLimitSet: true,
  AccountSubmitLimitSet: true,
  DashboardTokenIssued: true,
});

/** An account as last set. Lists: `all`, and `parent:<id>` for its direct children. */
export const accountProjection: Projection<OpenedAccount> = {
  name: 'account',
  version: 1,
  category: account.category,
  evolve(doc, event) {
    const next: AccountState = account.evolve(doc ?? account.initial, known(event));
    if (next.status !== 'open') throw new Error(`${event.stream} begins with ${event.type}`);
    return next;
  },
  indexes: (doc) => ['all', ...(doc.parentId === null ? [] : [`parent:${doc.parentId}`])],
};

/** What the configuration says to the directory; also the injection token. */
export abstract class AccountsOptions {
  abstract readonly production: boolean;
  /** Whether the test environment has vendors of its own; outside production it always has. */
  abstract readonly testVendors: boolean;
}

export interface AccountView extends AccountFacts {
  readonly name: string;
  readonly exchangesPerMinute: number | null;
}

/** Accounts as the rest of the service and the operator see them. */
@Injectable()
export class AccountDirectory extends Accounts {
  private readonly recent: TtlCache<AccountView>;

  constructor(
    private readonly readModels: ReadModels,
    private readonly options: AccountsOptions,
    clock: Clock,
  ) {
    super();
    this.recent = new TtlCache(clock, 1_000);
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

  /** As `find`, with what only this module looks at. */
  async recall(accountId: string): Promise<AccountView | null> {
    return this.recent.get(accountId, () => this.read(accountId));
  }

  /** As stored now. */
  async read(accountId: string): Promise<AccountView | null> {
    const view = await this.readModels.get(accountProjection, accountId);
    return view === null ? null : viewOf(accountId, view.doc);
  }
}

function viewOf(accountId: string, { name, parentId, settings }: OpenedAccount): AccountView {
  const { payer, ...rest } = settings;
  // Documents of before the two fees were settings do not have them.
  return {
    accountId,
    name,
    parentId,
    consumerPays: payer === 'consumer',
    ...rest,
    applicationFeeCents: rest.applicationFeeCents ?? null,
    maxApplicationFeeCents: rest.maxApplicationFeeCents ?? null,
  };
}
