import type { Environment } from '../kernel/environment.js';
import type { VendorChoice } from '../kernel/vendor-choice.js';

/** The account and environment of a session, and the keyed id of its person. */
export interface RoutedPerson {
  readonly accountId: string;
  readonly environment: Environment;
  readonly personId: string;
}

/** The routes that operators have chosen, for modules that begin work at a vendor. A change has its effect within two seconds. */
export abstract class VendorRoutes {
  /** The vendors of a new session. The session records them, and everything that follows goes to the recorded vendors. */
  abstract choose(person: RoutedPerson): Promise<VendorChoice>;

  /**
   * The vendors after the identity vendor `now.identity` has not executed the registration of the person. Null if no other vendor may be called.
   */
  abstract fallback(now: VendorChoice, person: RoutedPerson): Promise<VendorChoice | null>;

  /**
   * The identity vendor that is also called about the person, only to compare its verdict with the verdict of the vendor `decidedBy`. Null for every
   * live person.
   */
  abstract shadow(decidedBy: string, person: RoutedPerson): Promise<string | null>;
}
