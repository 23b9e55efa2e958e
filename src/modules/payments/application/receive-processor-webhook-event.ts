import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PaymentProcessor, ProcessorWebhookEvents } from '../../../ports/payment-processor.js';
import { payment, paymentIdIn, type PaymentState } from '../domain/payment.js';
import { intentOf, PaymentReconciler } from './payment-reconciler.js';

/**
 * Something happened at the processor. A notice is only a pointer: the intent it points at is fetched, so that order,
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
    private readonly notices: ProcessorWebhookEvents,
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly observing: PaymentReconciler,
    private readonly clock: Clock,
  ) {}

  async execute({ body, signature, correlationId }: ReceiveProcessorWebhookEvent): Promise<void> {
    const notice = this.notices.read(body, signature, this.clock.now());
    if (notice === null) throw new DomainError('request.invalid');
    if (notice.intentId === null) return;
    const verdict = await this.processor.retrieveIntent(
      { attemptId: notice.eventId, correlationId, environment: notice.environment, subject: null },
      notice.intentId,
    );
    if (verdict.kind === 'not-found') return;
    const intent = intentOf(verdict);
    const id = intent.transactionId === null ? null : paymentIdIn(intent.transactionId);
    if (id === null || !isId(id)) return;
    const loaded: LoadedAggregate<PaymentState> = await this.aggregates.load(payment, id);
    const { owner } = loaded;
    if (loaded.state.status === 'NONE' || owner?.environment !== notice.environment) return;
    // An intent that was not recorded yet nobody can pay, because its secret was given to nobody; whose it claims to be counts for nothing.
    if (loaded.state.paymentIntentId !== intent.id) return;
    if (loaded.history.some(({ metadata }) => metadata.$causationId === notice.eventId)) return;
    const context: ActionContext = {
      ...owner,
      actor: { kind: 'vendor', id: 'payment-processor' },
      correlationId,
      causationId: notice.eventId,
    };
    // The intent was fetched before the payment was loaded, so what it says may be older than what is known: it is looked at once more.
    const { payment: after } = await this.observing.reconcile(id, loaded, intent.id, context);
    await this.observing.notifySession(id, after.state, context);
  }
}
