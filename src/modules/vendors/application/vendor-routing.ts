import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import { keyedId } from '../../../kernel/ids.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { Vault } from '../../../ports/vault.js';
import type { VendorPauses } from '../../../ports/vendor-pauses.js';
import { Vendors } from '../../../ports/vendors.js';
import { Accounts } from '../../../published/accounts.js';
import { VendorRoutes, type RoutedPerson } from '../../../published/vendor-routes.js';
import {
  chosenVendors,
  fallbackVendors,
  routesOf,
  shadowVendor,
  type ChoiceFacts,
  type Routes,
} from '../domain/choice.js';
import { INSTALLATION, vendorRoutes, type VendorRoutesState } from '../domain/vendor-routes.js';

/** The age in milliseconds after which a process reads new events of the routes. */
const KNOWN_MS = 1_000;
const REMEMBERED_STREAMS = 10_000;

interface Seen {
  readonly state: VendorRoutesState;
  /** Epoch milliseconds. */
  readonly asOf: number;
}

/** The routes and pauses as this process knows them. Each process reads the log, so that a change needs neither a message nor a restart. */
@Injectable()
export class VendorRouting extends VendorRoutes implements VendorPauses {
  private readonly seen = new LRUCache<string, Seen>({ max: REMEMBERED_STREAMS });

  constructor(
    private readonly streams: GroupedStream,
    private readonly vault: Vault,
    private readonly vendors: Vendors,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async choose(person: RoutedPerson): Promise<VendorChoice> {
    const { routes, facts } = await this.known(person);
    return chosenVendors(routes, facts);
  }

  override async fallback(now: VendorChoice, person: RoutedPerson): Promise<VendorChoice | null> {
    const { routes, facts } = await this.known(person);
    return fallbackVendors(now, routes, facts);
  }

  override async shadow(decidedBy: string, person: RoutedPerson): Promise<string | null> {
    const { routes, facts } = await this.known(person);
    return shadowVendor(decidedBy, person.environment, routes, facts);
  }

  async has(vendor: string, environment: Environment): Promise<boolean> {
    return (await this.state(INSTALLATION)).paused[environment].includes(vendor);
  }

  private async known({ accountId, environment, personId }: RoutedPerson): Promise<{
    readonly routes: Routes;
    readonly facts: ChoiceFacts;
  }> {
    const [installation, own, account, key] = await Promise.all([
      this.state(INSTALLATION),
      this.state(accountId),
      this.accounts.find(accountId),
      this.vault.installationKey('vendor-route'),
    ]);
    const facts: ChoiceFacts = {
      takesSessionsOf: (capability, vendor, identity) =>
        this.vendors.knowsPersonBy(capability, vendor, identity) !== null,
      isReady: (capability, vendor) =>
        !installation.paused[environment].includes(vendor) &&
        this.vendors.choices(capability, environment).includes(vendor),
      lot: (vendor) => (Number.parseInt(keyedId(key, personId, vendor).slice(0, 8), 16) + 0.5) / 2 ** 32,
    };
    return { routes: routesOf(account?.vendors ?? {}, own.routes, installation.routes), facts };
  }

  private async state(id: string): Promise<VendorRoutesState> {
    const seen = this.seen.get(id);
    const asOf = this.clock.now().getTime();
    if (seen !== undefined && asOf < seen.asOf + KNOWN_MS) return seen.state;
    try {
      const { state } = await this.streams.load(vendorRoutes, id);
      this.seen.set(id, { state, asOf });
      return state;
    } catch (error) {
      if (seen === undefined || !(error instanceof Unavailable)) throw error;
      return seen.state;
    }
  }
}
