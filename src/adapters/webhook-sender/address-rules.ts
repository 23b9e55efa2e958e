// Checks the URL of an endpoint when it is registered, with the guard that the sender uses later.
import { WebhookAddressRules } from '../../ports/webhook-sender.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { AddressGuard, faultOfText, targetOf } from './address-guard.js';
import { CheckedNames, type Lookup } from './checked-names.js';

export interface AddressRulesOptions {
  /** Addresses and CIDR ranges that tests may reach. */
  readonly allow: readonly string[];
  /** The ports that URLs may have; 443 and 8443 by default. Addresses in `allow` may have any port. */
  readonly ports?: readonly number[];
  /** The time limit for looking up a name in milliseconds. The default is 5,000. */
  readonly timeoutMs?: number;
  /** The default is the system's resolver. */
  readonly lookup?: Lookup;
}

/** A name that passes now may have other addresses later, so the sender checks it again before every request. */
export class AddressRules extends WebhookAddressRules {
  private readonly guard: AddressGuard;
  private readonly names: CheckedNames;
  private readonly ports: readonly number[];
  private readonly timeoutMs: number;

  constructor(options: AddressRulesOptions) {
    super();
    this.guard = new AddressGuard(options.allow);
    this.names = new CheckedNames(this.guard, 0, options.lookup);
    this.ports = options.ports ?? [443, 8_443];
    this.timeoutMs = options.timeoutMs ?? 5_000;
  }

  override async faultOf(url: string): Promise<string | null> {
    const fault = faultOfText(url);
    if (fault !== null) return fault;
    const target = targetOf(url, this.guard.exempts);
    if (typeof target === 'string') return target;
    if (target.literal && !this.guard.permits(target.host)) return 'The host must be a public address';
    const addresses = target.literal
      ? [target.host]
      : ((await withTimeout(this.timeoutMs, this.names.addressesOf(target.host))) ?? 'not-found');
    switch (addresses) {
      case 'not-found':
        return 'The host does not resolve';
      case 'not-public':
        return 'The host must resolve to public addresses only';
      default:
        return this.ports.includes(target.port) || addresses.every((address) => this.guard.exempt(address))
          ? null
          : `The port must be one of ${this.ports.join(', ')}`;
    }
  }
}
