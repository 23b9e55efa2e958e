import type { Capability } from '../kernel/vendor-choice.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';

/** The behaviour that a test account has set for its test vendors. The accounts module implements this port. */
export abstract class VendorBehaviours {
  /** Null: the vendor behaves as usual. Throws if the log is unavailable. */
  abstract of(accountId: string, capability: Capability): Promise<VendorBehaviour | null>;
}
