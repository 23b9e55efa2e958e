import type { Capability } from '../kernel/vendor-choice.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';

/** The behaviour that a test account asks its test vendors for. The accounts module implements it. */
export abstract class VendorBehaviours {
  /** Null: the vendor behaves as usual. Throws when the log is away. */
  abstract of(accountId: string, capability: Capability): Promise<VendorBehaviour | null>;
}
