// Checks the URL of an endpoint when it is registered, with the guard that the sender uses later.
import { WebhookAddressRules } from '../../ports/webhook-sender.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { AddressGuard, faultOfText, targetOf } from './address-guard.js';
import { CheckedNames, type Lookup } from './checked-names.js';

export interface AddressRulesOptions {
  /** Addresses and CIDR ranges that tests may reach. */
  readonly allow: readonly string[];
  /** Ports of URLs; default 443 and 8443. Addresses of `allow` have any. */
  readonly ports?: readonly number[];
  /** The time for looking a name up, milliseconds; default 5,000. */
  readonly timeoutMs?: number;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
}

/** A name that passes now may have other addresses later, so the sender checks again, every time. */
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
