import type { Environment } from '../kernel/environment.js';

/** The vendors that operators have paused. The vendors module implements this port. */
export abstract class VendorPauses {
  /** At most a second old. While the log is unavailable, the answer is the last known one. */
  abstract has(vendor: string, environment: Environment): Promise<boolean>;
}
