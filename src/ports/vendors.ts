import type { Capability } from '../kernel/vendor-choice.js';

/** Which vendors this installation has. The vendor registry implements it. */
export abstract class Vendors {
  /** The ids of those that can be chosen. */
  abstract offering(capability: Capability): readonly string[];

  /** Whether the vendor knows a person by the session that this identity vendor gave. */
  abstract takesSessionsOf(capability: 'credit' | 'income', vendor: string, identityVendor: string): boolean;
}
