// The first steps of each refund: the pulls of the report are ended, and the payment records the request. Afterwards the service asks the processor
// for the refund.
import { Injectable } from '@nestjs/common';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isId } from '../../../kernel/ids.js';
import type { LoadedAggregate } from '../../../kernel/loaded-aggregate.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { ReportPulls } from '../../../published/reports.js';
import { Screenings } from '../../../published/screenings.js';
import {
  isRefunded,
  payment,
  paymentIdIn,
  transactionIdOf,
  type Payment,
  type PaymentState,
} from '../domain/payment.js';
import { existing } from './payment-call.js';

/** An unknown, a malformed and a foreign transaction get the same error. */
export async function paymentNamed(
  aggregates: AggregateStore,
  transactionId: string,
  isOpen: (owner: Owner | null) => boolean,
): Promise<{ readonly id: string; readonly owner: Owner | null; readonly vendor: string }> {
  const id = paymentIdIn(transactionId);
  if (id === null || !isId(id)) throw new DomainError('payment.not_found');
  const { state, owner }: LoadedAggregate<PaymentState> = await aggregates.load(payment, id);
  if (state.status === 'NONE' || transactionIdOf(id, state.reference) !== transactionId || !isOpen(owner))
    throw new DomainError('payment.not_found');
  return { id, owner, vendor: state.vendor };
}

/** A payment and its refund, for the account. */
export interface RefundedPayment {
  readonly transactionId: string;
  readonly sessionId: string;
  /** SUCCEEDED until the processor has made the refund. */
  readonly status: 'SUCCEEDED' | 'REFUNDED';
  readonly amountCents: number;
  readonly currency: string;
  /** The reason of the first request. */
  readonly reasonCode: RefundReason;
}

export function refundedPayment(id: string, state: Payment): RefundedPayment {
  const { sessionId, reference, price, currency, refund } = state;
  if (refund === null) throw new Error(`No refund of the payment ${id} is recorded`);
  return {
    transactionId: transactionIdOf(id, reference),
    sessionId,
    status: isRefunded(state) ? 'REFUNDED' : 'SUCCEEDED',
    amountCents: price.amountCents,
    currency,
    reasonCode: refund.reasonCode,
  };
}

interface Ended {
  readonly reasonCode: RefundReason;
  /** The report was released earlier, or another transaction has paid for the session. */
  readonly released?: boolean;
}

interface Wanted {
  readonly reasonCode: RefundReason;
  readonly evenIfReleased: boolean;
}

@Injectable()
export class RequestRefund {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly pulls: ReportPulls,
    private readonly accounts: Accounts,
  ) {}

  /** Requests the refund of a payment whose refund is due. The refund stays due while a pull is in progress. */
  async asPlanned(id: string, context: ActionContext): Promise<void> {
    const account = context.accountId === null ? null : await this.accounts.find(context.accountId);
    let dropped = account === null || account.refundAfterDays === null;
    try {
      if (!dropped) await this.of(id, { reasonCode: 'report_unavailable', evenIfReleased: false }, context);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      dropped = error.code === 'payment.report_released';
    }
    if (dropped) await this.aggregates.execute(payment, id, { kind: 'drop-refund-plan' }, context);
  }

  /** Throws `payment.not_completed` and the errors that `ReportPulls.end` throws. Safe to repeat. */
  async of(id: string, refund: Wanted, context: ActionContext): Promise<Payment> {
    // The payment may move to a newer session while the pulls of its session are being ended. A second round then ends the pulls of the newer
    // session.
    for (let time = 0; time < 2; time++) {
      const state = await this.once(id, refund, context);
      if (state.refund !== null) return state;
    }
    throw new DomainError('service.unavailable');
  }

  private async once(id: string, wanted: Wanted, context: ActionContext): Promise<Payment> {
    const known = await this.aggregates.load(payment, id);
    const state = existing(known.state);
    if (state.refund !== null) return state;
    if (state.status !== 'SUCCEEDED') throw new DomainError('payment.not_completed');
    const transactionId = transactionIdOf(id, state.reference);
    // The newest session is last. If the report of an earlier session is released or in progress, this throws, and the newest session can still pull.
    for (const other of state.others) await this.ended(other, transactionId, wanted, context);
    const ended = await this.ended(state.sessionId, transactionId, wanted, context);
    return this.record(id, state.sessionId, ended, context);
  }

  private async ended(
    sessionId: string,
    transactionId: string,
    { reasonCode, evenIfReleased }: Wanted,
    context: ActionContext,
  ): Promise<Ended> {
    const paidBy = (await this.screenings.find(sessionId))?.paidBy ?? null;
    // If another transaction has paid, no report was or will be pulled for this transaction.
    return paidBy !== null && paidBy !== transactionId
      ? { reasonCode, released: true }
      : this.pulls.end(sessionId, { transactionId, reasonCode, evenIfReleased }, context);
  }

  /** Records the refund when the pulls of all its sessions have ended. Does nothing if the payment has moved to a newer session. */
  async record(
    id: string,
    sessionId: string,
    { reasonCode, released = false }: Ended,
    context: ActionContext,
  ): Promise<Payment> {
    const known = await this.aggregates.load(payment, id);
    const state = existing(known.state);
    if (state.sessionId !== sessionId || state.refund !== null) return state;
    const others: string[] = [];
    for (const other of state.others) {
      const wanted = { reasonCode, evenIfReleased: true };
      const earlier = await this.ended(other, transactionIdOf(id, state.reference), wanted, context);
      if (!earlier.released) others.push(other);
    }
    const command = { kind: 'request-refund', sessionId, reasonCode, keepsReport: released, others } as const;
    return existing((await this.aggregates.execute(payment, id, command, context)).state);
  }
}
