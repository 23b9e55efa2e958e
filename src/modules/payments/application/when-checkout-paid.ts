import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { Screenings } from '../../../published/screenings.js';
import { checkout, checkoutReference, guardEnd, type CheckoutEvent } from '../domain/checkout.js';
import { CheckoutPolicy } from './checkout-policy.js';

/**
 * Tells the renter's newest screening session that it is paid for: the one there is when the money comes, and each that follows
 * within the guard. So who may not pay again is never asked to pay again.
 */
@Injectable()
export class WhenCheckoutPaid implements EventHandler {
  readonly name = 'checkouts_into_screenings';
  readonly inline = true;
  readonly categories = [checkout.category];
  readonly types: ReadonlySet<CheckoutEvent['type']> = new Set<CheckoutEvent['type']>([
    'CheckoutPaid',
    'RenterRegisteredAnew',
  ]);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly policy: CheckoutPolicy,
  ) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const event = recorded as RecordedEvent & CheckoutEvent;
    const id = idOf(event.stream);
    const { state } = await this.aggregates.load(checkout, id);
    if (state.status === 'NONE' || state.paidBy === null) return;
    const { paidBy, newest, events } = state;
    if (event.type === 'RenterRegisteredAnew') {
      const counts = Date.parse(event.data.registeredAt) < guardEnd(paidBy.at, this.policy.guardSeconds).getTime();
      // An older session is nobody's way to the report any more.
      if (!counts || event.data.sessionId !== newest.sessionId) return;
    } else if (event.type !== 'CheckoutPaid') return;
    const { sessionId } = event.data;
    const ordinal = event.type === 'CheckoutPaid' ? event.data.ordinal : paidBy.ordinal;
    await this.screenings.paymentProgressed(
      sessionId,
      { transactionId: checkoutReference(id, ordinal), ordinal, observation: events, status: 'SUCCEEDED' },
      {
        ...systemContext('checkouts', event.metadata),
        correlationId: event.metadata.$correlationId,
        causationId: event.id,
      },
    );
  }
}
