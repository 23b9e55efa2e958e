// Payments of which the processor may know more than we do, and when it is to be asked though nobody said anything.
import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/fact.js';
import type { Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { lookAt, payment, type PaymentEvent, type PaymentState } from '../domain/payment.js';

export interface OpenPayment {
  readonly payment: PaymentState;
  /** Time of the last event. */
  readonly since: string;
}

export const openPayments: Projection<OpenPayment> = {
  name: 'open_payments',
  version: 1,
  category: payment.category,

  evolve(doc, event) {
    if (!KNOWN_EVENTS.has(event.type)) throw new Error(`open_payments does not know ${event.type}`);
    const state = payment.evolve(doc?.payment ?? payment.initial, event as RecordedEvent<PaymentEvent> as PaymentEvent);
    return { payment: state, since: event.metadata.occurredAt };
  },

  dueAt: (doc) => lookAt(doc.payment, doc.since)?.toISOString() ?? null,
};

/** Written out as a record so that a new event type does not compile until it is listed. */
const KNOWN_EVENTS: ReadonlySet<string> = new Set(
  Object.keys({
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
  } satisfies Record<PaymentEvent['type'], true>),
);

@Injectable()
export class OpenPaymentsReader {
  constructor(private readonly readModels: ReadModels) {}

  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(openPayments, at, limit);
  }
}
