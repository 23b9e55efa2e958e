import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PaymentProcessor, ProcessorWebhookEvents } from '../../../ports/payment-processor.js';
import { payment, paymentIdIn, type PaymentState } from '../domain/payment.js';
import { intentOf, PaymentReconciler } from './payment-reconciler.js';

/**
 * Something happened at the processor. An event is only a pointer: the intent it points at is fetched, so that order,
 * repetition and age do not matter. What is not about a payment of ours changes nothing (docs/contract/platform.md#processor-events).
 */
@UseCase()
export class ReceiveProcessorWebhookEvent extends Command<void> {
  constructor(
    readonly body: Uint8Array,
    readonly signature: string | undefined,
    readonly correlationId: string,
  ) {
    super();
  }
}

@Handles(ReceiveProcessorWebhookEvent)
export class ReceiveProcessorWebhookEventHandler implements ICommandHandler<ReceiveProcessorWebhookEvent> {
  constructor(
    private readonly events: ProcessorWebhookEvents,
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly observing: PaymentReconciler,
    private readonly clock: Clock,
  ) {}

  async execute({ body, signature, correlationId }: ReceiveProcessorWebhookEvent): Promise<void> {
    const event = this.events.read(body, signature, this.clock.now());
    if (event === null) throw new DomainError('request.invalid');
    const { eventId, environment, intentId } = event;
    if (intentId === null) return;
    const transactionId =
      event.transactionId ?? (await this.transactionOf(eventId, environment, intentId, correlationId));
    const id = transactionId === null ? null : paymentIdIn(transactionId);
    if (id === null || !isId(id)) return;
    const loaded: LoadedAggregate<PaymentState> = await this.aggregates.load(payment, id);
    const { owner, state, history } = loaded;
    if (owner?.environment !== environment) return;
    // An intent that was not recorded yet nobody can pay, because its secret was given to nobody; whose it claims to be counts for nothing.
    if (state.status === 'NONE' || state.paymentIntentId !== intentId) return;
    if (history.some(({ metadata }) => metadata.$causationId === eventId)) return;
    await this.observing.reconcile(id, loaded, intentId, {
      ...owner,
      actor: { kind: 'vendor', id: 'payment-processor' },
      correlationId,
      causationId: eventId,
    });
  }

  /** Of a refund, which does not say it itself. Null for an intent that is not ours. */
  private async transactionOf(
    eventId: string,
    environment: Environment,
    intentId: string,
    correlationId: string,
  ): Promise<string | null> {
    const call = { attemptId: eventId, correlationId, environment, subject: null };
    const verdict = await this.processor.retrieveIntent(call, intentId);
    return verdict.kind === 'not-found' ? null : intentOf(verdict).transactionId;
  }
}
