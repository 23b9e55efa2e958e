// Payments that may have changed at the processor, and the time of the next look-up of each.
import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { exhaustiveEvents, listOf, openCall, openCallsIn, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { lookAt, payment, type PaymentEvent, type PaymentState } from '../domain/payment.js';

interface Followed {
  readonly payment: PaymentState;
  readonly environment: Environment;
  /** The time of the last event. */
  readonly since: string;
}

function ofIntent(intentId: string): string {
  return listOf({ intent: intentId });
}

/** Lists the payments whose look-up is due, and each payment by its intent. */
export const openPayments: Projection<{ readonly status: PaymentState['status'] }, Followed> = {
  name: 'open_payments',
  version: 9,
  category: payment.category,

  evolve(before, event) {
    const state = payment.evolve(before?.payment ?? payment.initial, known(event));
    const { environment, occurredAt } = event.metadata;
    if (environment === null) throw new Error(`${event.stream} belongs to no environment`);
    return { payment: state, environment, since: occurredAt };
  },

  view: ({ payment: { status } }) => ({ status }),
  entries: ({ payment: state, environment, since }) => {
    const due = lookAt(state, since);
    const intentId = state.status === 'NONE' ? null : state.paymentIntentId;
    return [
      ...(due === null ? [] : [openCall(environment, due.toISOString())]),
      ...(intentId === null ? [] : [{ list: ofIntent(intentId) }]),
    ];
  },
};

const known = exhaustiveEvents<PaymentEvent>('open_payments', {
  PaymentOpened: true,
  PaymentMadeAtCheckout: true,
  PaymentIntentCreated: true,
  PaymentAmountChosen: true,
  PaymentIntentAltered: true,
  PaymentLookedUp: true,
  PaymentAwaited: true,
  PaymentActionRequired: true,
  PaymentProcessing: true,
  PaymentDeclined: true,
  PaymentCanceled: true,
  PaymentSucceeded: true,
  PaymentCarriedOver: true,
  PaymentExtended: true,
  PaymentRefundPlanned: true,
  PaymentRefundPlanDropped: true,
  PaymentRefundRequested: true,
  PaymentRefundRefused: true,
  PaymentRefunded: true,
  PaymentRefundReversed: true,
});

@Injectable()
export class OpenPaymentsReader {
  constructor(private readonly readModels: ReadModels) {}

  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(openPayments, at, limit, { list: openCallsIn(environment) });
  }

  /** See `PaymentsByIntent`. */
  async withIntent(intentId: string): Promise<string | null> {
    const { items } = await this.readModels.list(openPayments, ofIntent(intentId), { limit: 1 });
    return items[0]?.id ?? null;
  }
}
