import { Injectable, Logger } from '@nestjs/common';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { Screenings } from '../../../published/screenings.js';
import { checkout, partyIn } from '../domain/checkout.js';
import {
  isRefunded,
  isReturned,
  isWhole,
  payment,
  transactionIdOf,
  type Payment,
  type PaymentEvent,
} from '../domain/payment.js';

const logger = new Logger('WhenPaymentProgressed');
const DAY_MS = 86_400_000;

/**
 * Notifies the session of changes of its payment. Also notifies earlier sessions for which the payment no longer counts, and the checkout whose
 * payment was refunded. Requests the refund of a payment when another payment has already paid for the session.
 */
@Injectable()
export class WhenPaymentProgressed implements EventHandler {
  readonly name = 'payments_into_screenings';
  readonly inline = true;
  readonly categories = [payment.category];
  readonly types: ReadonlySet<PaymentEvent['type']> = new Set<PaymentEvent['type']>([
    'PaymentOpened',
    'PaymentMadeAtCheckout',
    'PaymentAwaited',
    'PaymentActionRequired',
    'PaymentProcessing',
    'PaymentDeclined',
    'PaymentCanceled',
    'PaymentSucceeded',
    'PaymentCarriedOver',
    'PaymentExtended',
    'PaymentRefunded',
  ]);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const id = idOf(event.stream);
    const { state } = await this.aggregates.load(payment, id);
    if (state.status === 'NONE') return;
    const { ordinal, events: observation, sessionId, former, reference, refund } = state;
    const transactionId = transactionIdOf(id, reference);
    const status = isReturned(state) ? 'REFUNDED' : state.status;
    const context = {
      ...systemContext('payments', event.metadata),
      correlationId: event.metadata.$correlationId,
      causationId: event.id,
    };
    const partyId = partyOf(reference);
    if (partyId !== null && event.type === 'PaymentRefunded' && isWhole(state, state.refundedCents))
      await this.aggregates.execute(checkout, partyId, { kind: 'record-refund', ordinal }, context);
    const news = { transactionId, ordinal, observation };
    await this.screenings.paymentProgressed(sessionId, { ...news, status }, context);
    for (const before of former)
      await this.screenings.paymentProgressed(before, { ...news, status: 'CARRIED_OVER' }, context);
    for (const other of refundedWith(state))
      await this.screenings.paymentProgressed(other, { ...news, status: 'REFUNDED' }, context);
    if (status === 'SUCCEEDED' && refund === null) await this.refundSecond(id, state, event, context);
  }

  /** Requests the refund of a payment when another payment has already paid for its session. */
  private async refundSecond(
    id: string,
    { ordinal, sessionId, reference }: Payment,
    event: RecordedEvent,
    context: ActionContext,
  ): Promise<void> {
    const transactionId = transactionIdOf(id, reference);
    const paidBy = (await this.screenings.find(sessionId))?.paidBy ?? null;
    if (paidBy === null || paidBy === transactionId) return;
    const partyId = partyOf(reference);
    if (partyId !== null && !(await this.isNew(event, partyId, ordinal))) {
      logger.warn(
        `${transactionId} is a second payment for a session that ${paidBy} has paid for. It is not refunded automatically`,
      );
      return;
    }
    // The recovery job makes the refund. No report was pulled for this payment, and the other payment still pays for the session.
    const twice = { kind: 'request-refund', sessionId, reasonCode: 'duplicate', keepsReport: true } as const;
    await this.aggregates.execute(payment, id, twice, context);
  }

  /** Whether the checkout was paid just now. A late record comes from an older log, and an operator decides about such a payment. */
  private async isNew({ type, metadata }: RecordedEvent, partyId: string, ordinal: number): Promise<boolean> {
    const { state } = await this.aggregates.load(checkout, partyId);
    if (type !== 'PaymentMadeAtCheckout' || state.status === 'NONE' || state.paidBy?.ordinal !== ordinal) return false;
    return Date.parse(metadata.occurredAt) - Date.parse(state.paidBy.at) < DAY_MS;
  }
}

/** Other sessions for which the payment counted. */
function refundedWith(state: Payment): readonly string[] {
  return isRefunded(state) ? (state.refund?.others ?? []) : [];
}

function partyOf(reference: string | null): string | null {
  return reference === null ? null : partyIn(reference);
}
