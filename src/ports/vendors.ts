import type { Capability } from '../kernel/vendor-choice.js';

/** The processor's units of a currency: `10 ** exponent` is one unit, and charges are multiples of `step`. */
export interface ChargedCurrency {
  readonly exponent: number;
  readonly step: number;
}

/** The vendors of this installation. The vendor registry implements this port. */
export abstract class Vendors {
  /** The ids of the vendors that accounts can choose. */
  abstract offering(capability: Capability): readonly string[];

  /** Whether the vendor knows a person by this identity vendor's session. */
  abstract takesSessionsOf(capability: 'credit' | 'income', vendor: string, identityVendor: string): boolean;

  /** Keyed by the lowercase ISO 4217 code; null if the payment processor accepts no payments in the currency. */
  abstract currency(code: string): ChargedCurrency | null;
}
