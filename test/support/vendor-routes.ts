import { FIRST_CHOICE, type VendorChoice } from '../../src/kernel/vendor-choice.js';
import type { ShadowRegistration } from '../../src/modules/screening/application/shadow-registration.js';
import { VendorRoutes } from '../../src/published/vendor-routes.js';

/** Routes that lead every person to the same vendors. */
export class SetRoutes extends VendorRoutes {
  constructor(
    public chosen: VendorChoice = FIRST_CHOICE,
    public second: VendorChoice | null = null,
    public beside: string | null = null,
  ) {
    super();
  }
  override async choose(): Promise<VendorChoice> {
    return this.chosen;
  }
  override async fallback(): Promise<VendorChoice | null> {
    return this.second;
  }
  override async shadow(): Promise<string | null> {
    return this.beside;
  }
}

/** For suites whose routes have no shadow. */
export const NO_SHADOW = { begin: () => undefined } as unknown as ShadowRegistration;
