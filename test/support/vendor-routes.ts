import { FIRST_CHOICE, type VendorChoice } from '../../src/kernel/vendor-choice.js';
import { VendorRoutes } from '../../src/published/vendor-routes.js';

/** Routes that lead every person to the same vendors. */
export class SetRoutes extends VendorRoutes {
  constructor(
    public chosen: VendorChoice = FIRST_CHOICE,
    public second: VendorChoice | null = null,
  ) {
    super();
  }
  override async choose(): Promise<VendorChoice> {
    return this.chosen;
  }
  override async fallback(): Promise<VendorChoice | null> {
    return this.second;
  }
}
