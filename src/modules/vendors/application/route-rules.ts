import { Injectable } from '@nestjs/common';
import { FIRST_CHOICE, type RoutedCapability, type ChosenVendors } from '../../../kernel/vendor-choice.js';
import { Vendors } from '../../../ports/vendors.js';
import { routesOf, unfitVendors, vendorsIn } from '../domain/choice.js';
import { wrongRoute, type VendorRoute, type VendorRoutesState } from '../domain/vendor-routes.js';

/** Whether live traffic reaches real vendors; also the injection token. */
export abstract class RouteOptions {
  abstract readonly production: boolean;
}

/** The levels of a certificate that a live route accepts. */
const LIVE_LEVELS: readonly string[] = ['silver', 'gold'];

/** Checks routes against the vendors of this installation. */
@Injectable()
export class RouteRules {
  constructor(
    private readonly vendors: Vendors,
    private readonly options: RouteOptions,
  ) {}

  /** Throws if a vendor of the route does not exist, is not set up, or may not get live traffic. */
  check(capability: RoutedCapability, route: VendorRoute): void {
    const offered = this.vendors.choices(capability);
    for (const vendor of vendorsIn(route)) {
      if (!offered.includes(vendor))
        throw wrongRoute(`The ${capability} vendor must be one of ${offered.join(', ')}: ${vendor} is not set up.`);
      const level = this.vendors.certifiedAs(vendor);
      const first = FIRST_CHOICE[capability === 'banking' ? 'income' : capability];
      const isFirst = level === null && vendor === first;
      const isLive = this.options.production && this.vendors.choices(capability, 'live').includes(vendor);
      if (isLive && !isFirst && !LIVE_LEVELS.includes(level ?? ''))
        throw wrongRoute(`A live route needs a vendor with a silver certificate: ${vendor} has ${level ?? 'none'}.`);
    }
  }

  /** Throws if the vendor cannot be the shadow of a route. A shadow gets test traffic only, so it needs no certificate. */
  checkShadow(capability: RoutedCapability, shadow: string): void {
    if (capability !== 'identity') throw wrongRoute('Only the route of the identity vendors has a shadow.');
    if (!this.vendors.choices(capability, 'test').includes(shadow))
      throw wrongRoute(`A shadow gets test traffic only, and ${shadow} is not set up for test traffic.`);
  }

  /** The rule that the routes break; null if every routed identity vendor has a credit vendor that knows its persons. */
  faultOf(
    settings: ChosenVendors,
    own: VendorRoutesState['routes'],
    installation: VendorRoutesState['routes'],
    accountId: string | null,
  ): string | null {
    const routes = routesOf(settings, own, installation);
    const offered = this.vendors.offering('identity');
    const unfit = unfitVendors(routes, (...asked) => this.vendors.knowsPersonBy(...asked) !== null).filter((vendor) =>
      offered.includes(vendor),
    );
    if (unfit.length === 0) return null;
    const credit = vendorsIn(routes.credit).join(', ');
    return (
      `No routed credit vendor (${credit}) has reports on persons whom ${unfit.join(', ')} has verified. ` +
      'Give the credit vendors a route first: ops vendors route credit <vendor>=<weight> ... ' +
      `${accountId === null ? '' : `--account ${accountId} `}--reason <text>.`
    );
  }
}
