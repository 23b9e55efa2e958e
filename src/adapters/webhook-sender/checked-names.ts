// Looks names up and lets no answer pass that the guard has not seen; what passed is remembered for a moment.
import { lookup as lookUpWithSystem } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import type { AddressGuard } from './address-guard.js';

/** All addresses of a name. Rejects, or answers with none, when there are none. */
export type Lookup = (name: string) => Promise<readonly { readonly address: string }[]>;

/** The addresses, IPv4 first, at least one; or why there are none. */
export type CheckedAddresses = readonly string[] | 'not-found' | 'not-public';

const REMEMBERED_NAMES = 2_000;

const systemLookup: Lookup = (name) => lookUpWithSystem(name, { all: true });

/** One answer that is not public refuses the name: it is not known which of its addresses the next connection would take. */
export class CheckedNames {
  private readonly remembered = new LRUCache<string, { readonly addresses: readonly string[]; readonly until: number }>(
    {
      max: REMEMBERED_NAMES,
    },
  );
  /** One lookup a name at a time, however many wait for it. */
  private readonly underWay = new Map<string, Promise<CheckedAddresses>>();

  /** Public answers are remembered for `rememberedMs`, counted from the answer; refusals and failures never. */
  constructor(
    private readonly guard: AddressGuard,
    private readonly rememberedMs: number,
    private readonly lookup: Lookup = systemLookup,
  ) {}

  /** What is remembered of the name, null when it has to be looked up. */
  known(name: string): readonly string[] | null {
    const entry = this.remembered.get(name);
    if (entry === undefined) return null;
    if (performance.now() < entry.until) return entry.addresses;
    this.remembered.delete(name);
    return null;
  }

  /** Looks up. Never rejects; may take as long as the resolver does. */
  addressesOf(name: string): Promise<CheckedAddresses> {
    const begun = this.underWay.get(name);
    if (begun !== undefined) return begun;
    const answer = this.checked(name).finally(() => this.underWay.delete(name));
    this.underWay.set(name, answer);
    return answer;
  }

  /** The name is looked up again next time; said when its addresses could not be reached. */
  forget(name: string): void {
    this.remembered.delete(name);
  }

  private async checked(name: string): Promise<CheckedAddresses> {
    let addresses: string[];
    try {
      addresses = (await this.lookup(name)).map(({ address }) => address);
    } catch {
      // A name that does not exist and a resolver that does not answer are the same to a delivery: not now.
      return 'not-found';
    }
    if (addresses.length === 0) return 'not-found';
    if (!addresses.every((address) => this.guard.permits(address))) return 'not-public';
    const ordered = [
      ...addresses.filter((address) => !address.includes(':')),
      ...addresses.filter((address) => address.includes(':')),
    ];
    this.remember(name, ordered);
    return ordered;
  }

  private remember(name: string, addresses: readonly string[]): void {
    if (this.rememberedMs === 0) return;
    this.remembered.set(name, { addresses, until: performance.now() + this.rememberedMs });
  }
}
