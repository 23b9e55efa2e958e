// Payments as they are listed, and the time of the next look-up of each that may have changed at the processor.
import { Injectable } from '@nestjs/common';
import { machineTimeOf } from '../../../kernel/domain-event.js';
import type { Environment } from '../../../kernel/environment.js';
import {
  exhaustiveEvents,
  listOf,
  listsBy,
  openCall,
  openCallsIn,
  type Projection,
} from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { lookAt, payment, plannedRefundAt, type PaymentEvent, type PaymentState } from '../domain/payment.js';

interface Followed {
  readonly payment: PaymentState;
  /** Null if the first event of the payment does not name the account. */
  readonly accountId: string | null;
  readonly environment: Environment;
  /** The time of the first event. */
  readonly createdAt: string;
  /** The time of the last event. */
  readonly updatedAt: string;
  /** The machine's time of the last event. */
  readonly since: string;
}

/** A payment for account holders and operators. Times are ISO 8601 UTC. */
export interface ListedPayment {
  readonly accountId: string | null;
  readonly environment: Environment;
  readonly sessionId: string | null;
  /** `chk_...`; null for a payment that was not made at a hosted checkout. */
  readonly reference: string | null;
  readonly status: PaymentState['status'];
  readonly amountCents: number;
  readonly currency: string | null;
  readonly refundedCents: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Every list that holds the payment, sorted by the time when the payment was opened. The lists by session are those of one account. */
function listsOf(state: PaymentState, account: string | null, environment: Environment): string[] {
  if (state.status === 'NONE') return [];
  const { status, sessionId: session } = state;
  const lists = listsBy({ environment }, { status });
  return account === null ? lists : [...lists, ...listsBy({ account, environment }, { session, status })];
}

/** The list of payments of a test account whose refund is planned. */
export function plannedRefunds(account: string): string {
  return listOf({ account, refund: 'planned' });
}

function ofIntent(intentId: string, vendor: string): string {
  return listOf({ intent: intentId, vendor });
}

/** Lists all payments, the due ones by their time, and each payment by its intent. */
export const openPayments: Projection<ListedPayment, Followed> = {
  name: 'open_payments',
  version: 13,
  category: payment.category,

  evolve(before, event) {
    const state = payment.evolve(before?.payment ?? payment.initial, known(event));
    const { environment, occurredAt } = event.metadata;
    if (environment === null) throw new Error(`${event.stream} belongs to no environment`);
    return {
      payment: state,
      accountId: before?.accountId ?? event.metadata.accountId,
      environment,
      createdAt: before?.createdAt ?? occurredAt,
      updatedAt: occurredAt,
      since: machineTimeOf(event.metadata),
    };
  },

  view: ({ payment: state, accountId, environment, createdAt, updatedAt }) => {
    const opened = state.status === 'NONE' ? null : state;
    return {
      accountId,
      environment,
      sessionId: opened?.sessionId ?? null,
      reference: opened?.reference ?? null,
      status: state.status,
      amountCents: opened?.price.amountCents ?? 0,
      currency: opened?.currency ?? null,
      refundedCents: opened?.refundedCents ?? 0,
      createdAt,
      updatedAt,
    };
  },
  entries: ({ payment: state, accountId, environment, createdAt, since }) => {
    const due = lookAt(state, since);
    const listed =
      state.status === 'NONE' || state.paymentIntentId === null ? [] : [ofIntent(state.paymentIntentId, state.vendor)];
    return [
      ...listsOf(state, accountId, environment).map((list) => ({ list, sort: createdAt })),
      ...(due === null ? [] : [openCall(environment, due.toISOString())]),
      ...(accountId === null || environment === 'live' || plannedRefundAt(state) === null
        ? []
        : [{ list: plannedRefunds(accountId) }]),
      ...listed.map((list) => ({ list })),
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
  async withIntent(intentId: string, vendor: string): Promise<string | null> {
    const { items } = await this.readModels.list(openPayments, ofIntent(intentId, vendor), { limit: 1 });
    return items[0]?.id ?? null;
  }
}
