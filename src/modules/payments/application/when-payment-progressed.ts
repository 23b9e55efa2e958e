import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { EventHandler } from '../../../ports/event-handlers.js';
import { payment, type PaymentEvent } from '../domain/payment.js';
import { PaymentReconciler } from './payment-reconciler.js';

/** Tells the session how its payment is, wherever the process died that should have done it at once. */
@Injectable()
export class WhenPaymentProgressed implements EventHandler {
  readonly name = 'payments_into_screenings';
  readonly categories = [payment.category];
  readonly types: ReadonlySet<PaymentEvent['type']> = new Set<PaymentEvent['type']>([
    'PaymentOpened',
    'PaymentAwaited',
    'PaymentActionRequired',
    'PaymentProcessing',
    'PaymentDeclined',
    'PaymentCanceled',
    'PaymentSucceeded',
  ]);

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly observing: PaymentReconciler,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const id = idOf(event.stream);
    const { state } = await this.aggregates.load(payment, id);
    if (state.status === 'NONE') return;
    await this.observing.notifySession(id, state, {
      ...systemContext('payments', event.metadata),
      correlationId: event.metadata.$correlationId,
      causationId: event.id,
    });
  }
}
