// Payments of which the processor may know more than we do, and when it is to be asked though nobody said anything.
import { Injectable } from '@nestjs/common';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { lookAt, payment, type PaymentEvent, type PaymentState } from '../domain/payment.js';

interface Followed {
  readonly payment: PaymentState;
  /** Time of the last event. */
  readonly since: string;
}

/** Lists only what is due. */
export const openPayments: Projection<{ readonly status: PaymentState['status'] }, Followed> = {
  name: 'open_payments',
  version: 2,
  category: payment.category,

  evolve(before, event) {
    const state = payment.evolve(before?.payment ?? payment.initial, known(event));
    return { payment: state, since: event.metadata.occurredAt };
  },

  view: ({ payment: { status } }) => ({ status }),
  dueAt: ({ payment: state, since }) => lookAt(state, since)?.toISOString() ?? null,
};

const known = exhaustiveEvents<PaymentEvent>('open_payments', {
  PaymentOpened: true,
  PaymentIntentCreated: true,
  PaymentAmountChosen: true,
  PaymentLookedUp: true,
  PaymentAwaited: true,
  PaymentActionRequired: true,
  PaymentProcessing: true,
  PaymentDeclined: true,
  PaymentCanceled: true,
  PaymentSucceeded: true,
  PaymentRefunded: true,
});

@Injectable()
export class OpenPaymentsReader {
  constructor(private readonly readModels: ReadModels) {}

  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(openPayments, at, limit);
  }
}
