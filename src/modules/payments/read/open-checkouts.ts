// Hosted checkouts that may have changed at the processor, and the time of the next look-up of each.
import { Injectable } from '@nestjs/common';
import { machineTimeOf } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, openCall, openCallsIn, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { checkout, lookAt, type CheckoutEvent, type CheckoutState } from '../domain/checkout.js';

interface Followed {
  readonly checkout: CheckoutState;
  readonly environment: Environment;
  /** The machine's time of the last event. */
  readonly since: string;
}

/** Lists only the checkouts whose look-up is due. */
export const openCheckouts: Projection<{ readonly status: CheckoutState['status'] }, Followed> = {
  name: 'open_checkouts',
  version: 6,
  category: checkout.category,

  evolve(before, event) {
    const state = checkout.evolve(before?.checkout ?? checkout.initial, known(event));
    const { environment } = event.metadata;
    if (environment === null) throw new Error(`${event.stream} belongs to no environment`);
    return { checkout: state, environment, since: machineTimeOf(event.metadata) };
  },

  view: ({ checkout: { status } }) => ({ status }),
  entries: ({ checkout: state, environment, since }) => {
    const due = lookAt(state, since);
    return due === null ? [] : [openCall(environment, due.toISOString())];
  },
};

const known = exhaustiveEvents<CheckoutEvent>('open_checkouts', {
  CheckoutOpened: true,
  CheckoutSessionCreated: true,
  CheckoutAbandoned: true,
  CheckoutReplaced: true,
  CheckoutExpired: true,
  CheckoutPaid: true,
  CheckoutRefunded: true,
  CheckoutLookedUp: true,
  RenterRegisteredAnew: true,
});

@Injectable()
export class OpenCheckoutsReader {
  constructor(private readonly readModels: ReadModels) {}

  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(openCheckouts, at, limit, { list: openCallsIn(environment) });
  }
}
