// The vendors of new sessions, as operators choose them: for the installation, or for one account.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import type { RoutedCapability } from '../../../kernel/vendor-choice.js';

/** Shares of the persons by vendor, such as `{ idv: 90, acme: 10 }`. */
export type VendorWeights = Readonly<Record<string, number>>;

export interface VendorRoute {
  readonly weights: VendorWeights;
  /** The vendor that registers a person when the chosen vendor has not executed the registration; null: no second vendor is called. */
  readonly fallback: string | null;
  /** The identity vendor that is also called about test persons, so that operators can compare the verdicts. Absent if none is. */
  readonly shadow?: string;
}

export type VendorRoutesCommand =
  /** Null: the capability has no route any more. */
  | { readonly kind: 'route'; readonly capability: RoutedCapability; readonly route: VendorRoute | null }
  | { readonly kind: 'pause' | 'resume'; readonly vendor: string; readonly environments: readonly Environment[] };

export type VendorRoutesEvent =
  | DomainEvent<'VendorRouteChosen', VendorRoute & { readonly capability: RoutedCapability }>
  | DomainEvent<'VendorRouteRemoved', { readonly capability: RoutedCapability }>
  /** The metadata have the operator and the reason. */
  | DomainEvent<'VendorPaused', { readonly vendor: string; readonly environment: Environment }>
  | DomainEvent<'VendorResumed', { readonly vendor: string; readonly environment: Environment }>;

export interface VendorRoutesState {
  readonly routes: Readonly<Partial<Record<RoutedCapability, VendorRoute | undefined>>>;
  readonly paused: Readonly<Record<Environment, readonly string[]>>;
}

/** The id of the installation's stream. The stream of an account has the account's id. */
export const INSTALLATION = 'installation';

const MOST_WEIGHT = 10_000;

/** A pause concerns the installation, so that only the installation's stream has pauses. */
export const vendorRoutes: Decider<VendorRoutesState, VendorRoutesCommand, VendorRoutesEvent> = {
  category: 'vendor_routes',
  initial: { routes: {}, paused: { live: [], test: [] } },

  decide(command, state) {
    switch (command.kind) {
      case 'route': {
        const { capability, route } = command;
        const now = state.routes[capability];
        if (route === null) return now ? [{ type: 'VendorRouteRemoved', data: { capability } }] : [];
        if (!Object.values(route.weights).every(isWeight) || !Object.values(route.weights).some((weight) => weight > 0))
          throw wrongRoute(`A weight is a whole number from 0 to ${MOST_WEIGHT}, and one weight must be above 0.`);
        const { shadow } = route;
        if (shadow !== undefined && ((route.weights[shadow] ?? 0) > 0 || route.fallback === shadow))
          throw wrongRoute(`The route leads persons to ${shadow}, so ${shadow} cannot be its shadow.`);
        return isSame(now, route) ? [] : [{ type: 'VendorRouteChosen', data: { capability, ...route } }];
      }
      case 'pause':
      case 'resume': {
        const { kind, vendor, environments } = command;
        const pauses = kind === 'pause';
        return environments
          .filter((environment) => state.paused[environment].includes(vendor) !== pauses)
          .map((environment) => ({
            type: pauses ? 'VendorPaused' : 'VendorResumed',
            data: { vendor, environment },
          }));
      }
      default:
        return command satisfies never;
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'VendorRouteChosen': {
        const { capability, ...route } = event.data;
        return { ...state, routes: { ...state.routes, [capability]: route } };
      }
      case 'VendorRouteRemoved': {
        const { [event.data.capability]: _, ...routes } = state.routes;
        return { ...state, routes };
      }
      case 'VendorPaused':
      case 'VendorResumed': {
        const { vendor, environment } = event.data;
        const others = state.paused[environment].filter((one) => one !== vendor);
        const paused = event.type === 'VendorPaused' ? [...others, vendor] : others;
        return { ...state, paused: { ...state.paused, [environment]: paused } };
      }
      default:
        return assertNever(event, state);
    }
  },
};

/** The message is for the operator who set the route. */
export function wrongRoute(message: string): DomainError {
  return new DomainError('request.invalid', { field: 'route', details: [{ field: 'route', message }] });
}

function isWeight(weight: number): boolean {
  return Number.isSafeInteger(weight) && weight >= 0 && weight <= MOST_WEIGHT;
}

function isSame(now: VendorRoute | undefined, { weights, fallback, shadow }: VendorRoute): boolean {
  const names = Object.keys(weights);
  return (
    now !== undefined &&
    now.fallback === fallback &&
    now.shadow === shadow &&
    names.length === Object.keys(now.weights).length &&
    names.every((name) => now.weights[name] === weights[name])
  );
}
