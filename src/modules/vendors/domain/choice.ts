// The choice of the vendors of a new session. The choice is a pure function of the routes, the ready vendors and the person's lots.
import type { Environment } from '../../../kernel/environment.js';
import {
  FIRST_CHOICE,
  type RoutedCapability,
  type ChosenVendors,
  type VendorChoice,
} from '../../../kernel/vendor-choice.js';
import type { VendorRoute, VendorRoutesState, VendorWeights } from './vendor-routes.js';

export type Routes = Readonly<Record<Exclude<RoutedCapability, 'banking'>, VendorRoute>> & {
  /** Null: the vendor of `income` reads bank transactions too. */
  readonly banking: VendorRoute | null;
};

type Follower = Exclude<RoutedCapability, 'identity'>;

/** Whether the vendor knows a person by this identity vendor's session. */
export type TakesSessions = (capability: Follower, vendor: string, identityVendor: string) => boolean;

/** The facts besides the routes. */
export interface ChoiceFacts {
  readonly takesSessionsOf: TakesSessions;
  /** Whether the vendor is set up and not paused. */
  readonly isReady: (capability: RoutedCapability, vendor: string) => boolean;
  /** The person's lot for the vendor: above 0 and below 1, and always the same. */
  readonly lot: (vendor: string) => number;
}

/**
 * The routes of an account. Its own route comes before the vendor in its settings, and that vendor before the route of the installation.
 */
export function routesOf(
  settings: ChosenVendors,
  own: VendorRoutesState['routes'],
  installation: VendorRoutesState['routes'],
): Routes {
  const to = (vendor: string): VendorRoute => ({ weights: { [vendor]: 1 }, fallback: null });
  const chosen = (capability: RoutedCapability): VendorRoute | undefined => {
    const set = settings[capability];
    return own[capability] ?? (set === undefined ? undefined : to(set)) ?? installation[capability];
  };
  const of = (capability: Exclude<RoutedCapability, 'banking'>): VendorRoute =>
    chosen(capability) ?? to(FIRST_CHOICE[capability]);
  return { identity: of('identity'), credit: of('credit'), income: of('income'), banking: chosen('banking') ?? null };
}

/**
 * A person always falls to the same vendor while the routes stay as they are. When a vendor is paused, only its own persons fall to others. Without a
 * vendor that is ready, the choice ignores pauses, and the call itself is refused.
 */
export function chosenVendors(routes: Routes, facts: ChoiceFacts): VendorChoice {
  const { weights, fallback } = routes.identity;
  const fitting = filtered(weights, (vendor) => fits(vendor, routes, facts.takesSessionsOf));
  const first = readyOf(fitting, 'identity', facts);
  const second = fallback !== null && facts.isReady('identity', fallback) ? fallback : null;
  const identity =
    drawn(first, facts) ?? second ?? drawn(fitting, facts) ?? drawn(weights, facts) ?? FIRST_CHOICE.identity;
  return { identity, ...followers(identity, routes, facts) };
}

/** The vendors after the chosen vendor has not executed the registration. Null if the route has no other vendor that is ready. */
export function fallbackVendors(now: VendorChoice, routes: Routes, facts: ChoiceFacts): VendorChoice | null {
  const { fallback } = routes.identity;
  if (fallback === null || fallback === now.identity || !facts.isReady('identity', fallback)) return null;
  if (!fits(fallback, routes, facts.takesSessionsOf)) return null;
  return { identity: fallback, ...followers(fallback, routes, facts) };
}

/** The vendor that is also called about a test person after the verdict of the vendor `decidedBy`. Null if the route has no shadow that is ready. */
export function shadowVendor(
  decidedBy: string,
  environment: Environment,
  { identity: { shadow } }: Routes,
  { isReady }: Pick<ChoiceFacts, 'isReady'>,
): string | null {
  if (environment === 'live' || shadow === undefined || shadow === decidedBy) return null;
  return isReady('identity', shadow) ? shadow : null;
}

/** The identity vendors of the routes whose persons no routed credit vendor knows. They would pay, and never get the report. */
export function unfitVendors(routes: Routes, takesSessionsOf: TakesSessions): readonly string[] {
  return vendorsIn(routes.identity).filter((vendor) => !fits(vendor, routes, takesSessionsOf));
}

/** The vendors to which a route can lead. */
export function vendorsIn({ weights, fallback }: VendorRoute): readonly string[] {
  const weighted = Object.keys(filtered(weights, () => true));
  return fallback === null || weighted.includes(fallback) ? weighted : [...weighted, fallback];
}

function fits(identity: string, { credit }: Routes, takesSessionsOf: TakesSessions): boolean {
  return Object.keys(filtered(credit.weights, (vendor) => takesSessionsOf('credit', vendor, identity))).length > 0;
}

/** An income vendor is also used without a person, so its route needs no vendor that knows the person. */
function followers(identity: string, routes: Routes, facts: ChoiceFacts): Omit<VendorChoice, 'identity'> {
  const drawnFor = (capability: Follower): string | null => {
    const { weights } = routes[capability] ?? { weights: {} };
    const knowing = filtered(weights, (vendor) => facts.takesSessionsOf(capability, vendor, identity));
    return drawn(readyOf(knowing, capability, facts), facts) ?? drawn(knowing, facts) ?? drawn(weights, facts);
  };
  const banking = drawnFor('banking');
  return {
    credit: drawnFor('credit') ?? FIRST_CHOICE.credit,
    income: drawnFor('income') ?? FIRST_CHOICE.income,
    ...(banking !== null && { banking }),
  };
}

function readyOf(weights: VendorWeights, capability: RoutedCapability, facts: ChoiceFacts): VendorWeights {
  return filtered(weights, (vendor) => facts.isReady(capability, vendor));
}

function filtered(weights: VendorWeights, isWanted: (vendor: string) => boolean): VendorWeights {
  return Object.fromEntries(Object.entries(weights).filter(([vendor, weight]) => weight > 0 && isWanted(vendor)));
}

/** The vendor with the highest score. With this score, each vendor is drawn in proportion to its weight (weighted rendezvous hashing). */
function drawn(weights: VendorWeights, { lot }: ChoiceFacts): string | null {
  const scored = Object.entries(filtered(weights, () => true)).map(
    ([vendor, weight]) => ({ vendor, score: Math.log(lot(vendor)) / weight }) as const,
  );
  return (
    scored.reduce<(typeof scored)[number] | null>(
      (best, one) => (best === null || one.score > best.score ? one : best),
      null,
    )?.vendor ?? null
  );
}
