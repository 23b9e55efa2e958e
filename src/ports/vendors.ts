import type { Environment } from '../kernel/environment.js';
import type { Capability, ChosenCapability } from '../kernel/vendor-choice.js';
import type { KnownPerson } from '../kernel/vendor-subject.js';

/** The processor's units of a currency: `10 ** exponent` is one unit, and charges are multiples of `step`. */
export interface ChargedCurrency {
  readonly exponent: number;
  readonly step: number;
}

/** The limits of one vendor, which apply besides the common limits. */
export interface VendorLimits {
  /** The longest time of a call, in milliseconds. A longer time than `VENDOR_TIMEOUT` has no effect. */
  readonly timeoutMs?: number;
  /** The number of calls that one worker process makes at once in one environment. */
  readonly concurrency?: number;
  /** The number of calls that all processes together begin in one second in one environment. */
  readonly callsPerSecond?: number;
}

/** The vendors of this installation. The vendor registry implements this port. */
export abstract class Vendors {
  /** The ids of the vendors that are set up. With an environment, only vendors that are set up there. */
  abstract offering(capability: Capability, environment?: Environment): readonly string[];

  /** The ids of the vendors that can be chosen. An income vendor can be chosen for the routes that it has. */
  abstract choices(of: ChosenCapability, environment?: Environment): readonly string[];

  /** The ids of all vendors with the capability, even if they are not set up. */
  abstract having(capability: Capability): readonly string[];

  abstract limitsOf(vendor: string): VendorLimits;

  /** The level of the vendor's certificate; null without a certificate. */
  abstract certifiedAs(vendor: string): string | null;

  /**
   * The form in which the vendor knows the confirmed persons of this identity vendor: by its session, or by the person's own data. Null if the vendor
   * does not know them.
   */
  abstract knowsPersonBy(
    capability: 'credit' | 'income' | 'banking',
    vendor: string,
    identityVendor: string,
  ): KnownPerson['kind'] | null;

  /** Whether the direct API passes on the vendor's own answers (docs/contract/direct.md#passthrough). */
  abstract speaksDirect(capability: 'identity' | 'credit', vendor: string): boolean;

  /**
   * Keyed by the lowercase ISO 4217 code; null if the payment processor accepts no payments in the currency. Without a processor, the first one is
   * meant.
   */
  abstract currency(code: string, processor?: string): ChargedCurrency | null;
}
