import { describe, expect, it } from '@jest/globals';
import {
  chosenVendors,
  fallbackVendors,
  routesOf,
  shadowVendor,
  unfitVendors,
  type ChoiceFacts,
} from '../../../src/modules/vendors/domain/choice.js';
import {
  vendorRoutes,
  wrongRoute,
  type VendorRoute,
  type VendorRoutesCommand,
  type VendorRoutesEvent,
} from '../../../src/modules/vendors/domain/vendor-routes.js';
import { given } from '../../support/decider.js';

const to = (weights: Readonly<Record<string, number>>, fallback: string | null = null): VendorRoute => ({
  weights,
  fallback,
});
const SPLIT = to({ idv: 90, acme: 10 });
const BOTH = to({ idv: 1, acme: 1 });
/** Each bureau knows the persons of its own identity vendor, and any knows those of `wide`. */
const facts = (person: number, notReady: readonly string[] = []): ChoiceFacts => ({
  takesSessionsOf: (_capability, vendor, identity) => vendor === identity || vendor === 'wide' || vendor === 'voie',
  isReady: (_capability, vendor) => !notReady.includes(vendor),
  // Evenly spread numbers, which differ for each vendor.
  lot: (vendor) =>
    (((person * 0.618_034 + vendor.length * 0.271_828 + person * vendor.length * 0.414_2) % 1) + 1) % 1 || 0.5,
});
const PERSONS = Array.from({ length: 2_000 }, (_, person) => person);
const routesWith = (identity: VendorRoute, credit: VendorRoute = BOTH) => routesOf({}, {}, { identity, credit });

describe('the choice of vendors', () => {
  it('leads persons to the vendors in proportion to the weights, and the same person always to the same vendor', () => {
    const chosen = PERSONS.map((person) => chosenVendors(routesWith(SPLIT), facts(person)).identity);
    const share = chosen.filter((vendor) => vendor === 'acme').length / PERSONS.length;
    expect(share).toBeGreaterThan(0.06);
    expect(share).toBeLessThan(0.15);
    expect(PERSONS.map((person) => chosenVendors(routesWith(SPLIT), facts(person)).identity)).toEqual(chosen);
  });

  it('chooses a credit vendor that knows the persons of the chosen identity vendor', () => {
    for (const person of PERSONS) {
      const { identity, credit } = chosenVendors(routesWith(SPLIT), facts(person));
      expect(credit).toBe(identity);
    }
  });

  it('has a vendor for bank transactions only when the settings or a route name one', () => {
    const chosen = (routes: ReturnType<typeof routesOf>) => chosenVendors(routes, facts(1));
    expect(chosen(routesOf({}, {}, {}))).toEqual({ identity: 'idv', credit: 'idv', income: 'voie' });
    expect(chosen(routesOf({ banking: 'wide' }, {}, {}))).toMatchObject({ income: 'voie', banking: 'wide' });
    expect(chosen(routesOf({ income: 'other' }, {}, { banking: to({ wide: 1 }) }))).toMatchObject({
      ...{ income: 'other', banking: 'wide' },
    });
  });

  it('leads only the persons of a paused vendor to another vendor', () => {
    const routes = routesWith(to({ idv: 50, acme: 50 }));
    for (const person of PERSONS) {
      const before = chosenVendors(routes, facts(person)).identity;
      const paused = chosenVendors(routes, facts(person, ['acme'])).identity;
      expect(paused).toBe(before === 'acme' ? 'idv' : before);
    }
  });

  it('leads persons to the fallback when every vendor with a weight is paused', () => {
    const routes = routesWith(to({ idv: 1 }, 'acme'));
    expect(chosenVendors(routes, facts(1, ['idv']))).toEqual({ identity: 'acme', credit: 'acme', income: 'voie' });
  });

  it('stays with a paused vendor when no other vendor is ready', () => {
    expect(chosenVendors(routesWith(to({ acme: 1 })), facts(1, ['acme', 'idv'])).identity).toBe('acme');
  });

  it('never leads a person to an identity vendor whose persons no routed credit vendor knows', () => {
    const routes = routesWith(SPLIT, to({ idv: 1 }));
    expect(unfitVendors(routes, facts(0).takesSessionsOf)).toEqual(['acme']);
    expect(new Set(PERSONS.map((person) => chosenVendors(routes, facts(person)).identity))).toEqual(new Set(['idv']));
    expect(unfitVendors(routesWith(to({ idv: 1 }, 'acme'), to({ idv: 1 })), facts(0).takesSessionsOf)).toEqual([
      'acme',
    ]);
  });

  it('prefers the route of the account to its settings, and its settings to the route of the installation', () => {
    const installation = { identity: SPLIT };
    expect(routesOf({}, {}, installation).identity).toEqual(SPLIT);
    for (const identity of ['other', 'idv'])
      expect(routesOf({ identity }, {}, installation).identity).toEqual(to({ [identity]: 1 }));
    expect(routesOf({ identity: 'idv' }, { identity: BOTH }, installation).identity).toEqual(BOTH);
    expect(routesOf({}, {}, {}).identity).toEqual(to({ idv: 1 }));
  });

  it('falls back to another vendor only when the route names one that is ready and fits', () => {
    const now = { identity: 'idv', credit: 'idv', income: 'voie' };
    const after = (route: VendorRoute, notReady: readonly string[] = [], credit = BOTH) =>
      fallbackVendors(now, routesWith(route, credit), facts(1, notReady));
    expect(after(to({ idv: 1 }, 'acme'))).toEqual({ identity: 'acme', credit: 'acme', income: 'voie' });
    expect(after(to({ idv: 1, acme: 1 }))).toBeNull();
    expect(after(to({ acme: 1 }, 'idv'))).toBeNull();
    expect(after(to({ idv: 1 }, 'acme'), ['acme'])).toBeNull();
    expect(after(to({ idv: 1 }, 'acme'), [], to({ idv: 1 }))).toBeNull();
  });
});

describe('the shadow of a route', () => {
  const beside = (environment: 'live' | 'test', decidedBy = 'idv', notReady: readonly string[] = []) =>
    shadowVendor(decidedBy, environment, routesWith({ ...to({ idv: 1 }), shadow: 'acme' }), facts(1, notReady));

  it('is called about test persons while it is ready, and never about live persons', () => {
    expect([beside('test'), beside('live')]).toEqual(['acme', null]);
    expect(beside('test', 'idv', ['acme'])).toBeNull();
  });

  it('is never compared with itself, and a route needs no shadow', () => {
    expect(beside('test', 'acme')).toBeNull();
    expect(shadowVendor('idv', 'test', routesWith(to({ idv: 1 })), facts(1))).toBeNull();
  });

  it('never decides about a person', () => {
    const routes = routesWith({ ...to({ idv: 1 }), shadow: 'acme' });
    expect(chosenVendors(routes, facts(1, ['idv'])).identity).toBe('idv');
    expect(fallbackVendors({ identity: 'idv', credit: 'idv', income: 'voie' }, routes, facts(1))).toBeNull();
  });
});

describe('the routes of an installation', () => {
  const chosen = (route: VendorRoute): VendorRoutesEvent => ({
    type: 'VendorRouteChosen',
    data: { capability: 'identity', ...route },
  });
  const choose = (route: VendorRoute | null): VendorRoutesCommand => ({ kind: 'route', capability: 'identity', route });
  const pausing = (kind: 'pause' | 'resume'): VendorRoutesCommand => ({
    kind,
    vendor: 'acme',
    environments: ['live', 'test'],
  });

  it('are chosen once, changed and removed', () => {
    const after = given(vendorRoutes).when(choose(SPLIT)).then(chosen(SPLIT));
    after.when(choose({ ...SPLIT })).then();
    after.when(choose(to({ idv: 90, acme: 10 }, 'acme'))).then(chosen(to({ idv: 90, acme: 10 }, 'acme')));
    const removed: VendorRoutesEvent = { type: 'VendorRouteRemoved', data: { capability: 'identity' } };
    expect(after.when(choose(null)).then(removed).state.routes).toEqual({});
    given(vendorRoutes).when(choose(null)).then();
  });

  it('have a shadow, which is another vendor than those that get persons', () => {
    const shadowed = { ...to({ idv: 90, acme: 0 }), shadow: 'acme' };
    const after = given(vendorRoutes, chosen(to({ idv: 90, acme: 0 })))
      .when(choose(shadowed))
      .then(chosen(shadowed));
    after.when(choose({ ...shadowed })).then();
    const { detail } = wrongRoute('The route leads persons to acme, so acme cannot be its shadow.');
    for (const route of [SPLIT, to({ idv: 1 }, 'acme')])
      after.when(choose({ ...route, shadow: 'acme' })).thenRefused('request.invalid', detail);
    after.when(choose(to({ idv: 90, acme: 0 }))).then(chosen(to({ idv: 90, acme: 0 })));
  });

  it.each([[{}], [{ idv: 0 }], [{ idv: -1, acme: 2 }], [{ idv: 1.5 }], [{ idv: 10_001 }]])(
    'are refused with the weights %j',
    (weights) => {
      const { detail } = wrongRoute('A weight is a whole number from 0 to 10000, and one weight must be above 0.');
      given(vendorRoutes)
        .when(choose(to(weights)))
        .thenRefused('request.invalid', detail);
    },
  );

  it('pause and resume a vendor in each environment once', () => {
    const paused = (environment: 'live' | 'test'): VendorRoutesEvent => ({
      type: 'VendorPaused',
      data: { vendor: 'acme', environment },
    });
    const after = given(vendorRoutes, paused('live')).when(pausing('pause')).then(paused('test'));
    expect(after.state.paused).toEqual({ live: ['acme'], test: ['acme'] });
    after.when(pausing('pause')).then();
    expect(after.when(pausing('resume')).decided.state.paused).toEqual({ live: [], test: [] });
  });
});
