// The case about answers that concern another check: an adapter must not take such an answer for the answer to its request.
import type { Role } from '../double/certified-double.js';
import type { Observation } from './laboratory.js';
import { idsExchanged } from './mutations.js';
import type { Exchange, Fault, FaultProxy } from './proxy.js';
import { UNDECIDED } from './rules.js';

/** The answers to the requests of `exchanged` name another check. `lost`: the requests whose answers are lost. */
export class OtherCheck {
  readonly faults: FaultProxy['faults'];
  private readonly ids = new Set<string>();
  private isMet = false;

  constructor(exchanged: Role, roles: readonly Role[], lost?: { readonly role: Role; readonly fault: Fault }) {
    const exchange = idsExchanged(
      (id) => this.ids.has(id),
      () => (this.isMet = true),
    );
    const pass: Fault = { name: 'none', apply: async ({ forward, answer }) => answer(await forward()) };
    const faultOf = (role: Role): Fault => (role === exchanged ? exchange : role === lost?.role ? lost.fault : pass);
    // After a loss, an object of unknown id may also be known by the service's own name for it.
    const isNaming = (role: Role): boolean => lost === undefined || role === lost.role;
    const entries = roles.map((role) => [role, isNaming(role) ? this.watching(faultOf(role)) : faultOf(role)] as const);
    this.faults = Object.fromEntries(entries);
  }

  problems({ verdict, thrown }: Observation): readonly string[] {
    if (!this.isMet) return [];
    if (thrown !== null) return ['the adapter throws'];
    return verdict === null || UNDECIDED.has(verdict.kind)
      ? []
      : [`the verdict is ${verdict.kind}, from an answer about another check`];
  }

  private watching(fault: Fault): Fault {
    const apply = (exchange: Exchange): Promise<void> | void => {
      for (const id of exchange.seen.ids) this.ids.add(id);
      return fault.apply(exchange);
    };
    return { ...fault, apply };
  }
}
