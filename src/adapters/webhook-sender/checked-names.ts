// Looks up names and returns only answers that the guard has checked. Permitted answers are remembered for a short time.
import { lookup as lookUpWithSystem } from 'node:dns/promises';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { AddressGuard } from './address-guard.js';

/** All addresses of a name. Rejects, or returns an empty list, for a name without addresses. */
export type Lookup = (name: string) => Promise<readonly { readonly address: string }[]>;

/** The addresses, at least one, or the reason to refuse the name. IPv4 addresses are first, and addresses that failed recently are last. */
export type CheckedAddresses = readonly string[] | 'not-found' | 'not-public';

const REMEMBERED_NAMES = 2_000;
/** Further names count as not found. With a resolver that hangs, each lookup would wait for a thread of the process. */
const MOST_LOOKUPS = 100;

const systemLookup: Lookup = (name) => lookUpWithSystem(name, { all: true });

/** If one address is not public, the name is refused, because the next connection could use any of its addresses. */
export class CheckedNames {
  private readonly remembered: LRUCache<string, readonly string[]>;
  /** For each address, the number of its last failure, in a count over all failures. */
  private readonly failures = new LRUCache<string, number>({ max: REMEMBERED_NAMES });
  private failure = 0;
  /** One lookup for each name at a time. All callers that need the name wait for the same lookup. */
  private readonly underWay = new Map<string, Promise<CheckedAddresses>>();

  /** Public answers are remembered for `rememberedMs` after they arrive. Refusals and failures are never remembered. */
  constructor(
    private readonly guard: AddressGuard,
    private readonly rememberedMs: number,
    private readonly lookup: Lookup = systemLookup,
  ) {
    this.remembered = new LRUCache({ max: REMEMBERED_NAMES, ttl: rememberedMs });
  }

  /** Never rejects. The call may take as long as the resolver. */
  async addressesOf(name: string): Promise<CheckedAddresses> {
    const addresses = this.remembered.get(name);
    if (addresses !== undefined) return addresses;
    const begun = this.underWay.get(name);
    if (begun !== undefined) return begun;
    if (this.underWay.size >= MOST_LOOKUPS) return 'not-found';
    const answer = this.checked(name).finally(() => this.underWay.delete(name));
    this.underWay.set(name, answer);
    return answer;
  }

  /** An address gave no answer. The name is looked up again at the next attempt, and this address is then last. */
  failed(name: string, address: string): void {
    this.remembered.delete(name);
    this.failures.set(address, (this.failure += 1));
  }

  private async checked(name: string): Promise<CheckedAddresses> {
    let addresses: string[];
    try {
      addresses = (await this.lookup(name)).map(({ address }) => address);
    } catch {
      // For a delivery, a name that does not exist and a resolver that does not answer have the same result.
      return 'not-found';
    }
    if (addresses.length === 0) return 'not-found';
    if (!addresses.every((address) => this.guard.permits(address))) return 'not-public';
    const last = (address: string): number => this.failures.get(address) ?? 0;
    addresses.sort((one, other) => last(one) - last(other) || isIP(one) - isIP(other));
    if (this.rememberedMs > 0) this.remembered.set(name, addresses);
    return addresses;
  }
}
