import type { Capability } from '../kernel/vendor-choice.js';

/** How the payment processor counts a currency: `10 ** exponent` is one unit, and what is charged is a multiple of `step`. */
export interface ChargedCurrency {
  readonly exponent: number;
  readonly step: number;
}

/** Which vendors this installation has. The vendor registry implements it. */
export abstract class Vendors {
  /** The ids of those that can be chosen. */
  abstract offering(capability: Capability): readonly string[];

  /** Whether the vendor knows a person by the session that this identity vendor gave. */
  abstract takesSessionsOf(capability: 'credit' | 'income', vendor: string, identityVendor: string): boolean;

  /** By its lowercase ISO 4217 code; null when the payment processor does not charge it. */
  abstract currency(code: string): ChargedCurrency | null;
}
