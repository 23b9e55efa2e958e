import { Injectable } from '@nestjs/common';
import { systemContext } from '../../../kernel/context.js';
import { idOf, type RecordedEvent } from '../../../kernel/fact.js';
import { Handling } from '../../../platform/handling/handling.js';
import type { Reaction } from '../../../ports/reactions.js';
import { payment, type PaymentEvent } from '../domain/payment.js';
import { ProcessorObserving } from './processor-observing.js';

/** Tells the session how its payment is, wherever the process died that should have done it at once. */
@Injectable()
export class WhenPaymentProgressed implements Reaction {
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
    private readonly handling: Handling,
    private readonly observing: ProcessorObserving,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.stream);
    const { state } = await this.handling.load(payment, id);
    if (state.status === 'NONE') return;
    await this.observing.tellSession(id, state, {
      ...systemContext('payments', event.metadata),
      correlationId: event.metadata.$correlationId,
      causationId: event.id,
    });
  }
}
