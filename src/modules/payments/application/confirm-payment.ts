import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import { isId, newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { Screenings } from '../../../published/screenings.js';
import { payment, paymentIdIn, type Payment, type PaymentState } from '../domain/payment.js';
import { endOf, existing, PaymentCall, refuseUnlessRecorded, type PaymentCallEnd } from './payment-call.js';
import { PaymentPolicy } from './payment-policy.js';
import { PaymentReconciler } from './payment-reconciler.js';
import { WhenPaymentProgressed } from './when-payment-progressed.js';

/**
 * The page reports that the consumer has finished. Fetches the payment's status from the processor and records it in the session too. This use case
 * makes up for lost webhook events from the processor. A confirm charges nothing and is safe to repeat (docs/contract/platform.md#confirming).
 */
@UseCase()
export class ConfirmPayment extends Command<Payment> {
  constructor(
    readonly transactionId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Injectable()
export class LookAtIntent extends PaymentCall<{ readonly paymentIntentId: string }> {
  override readonly operation = 'look-at-intent';
  override readonly semantics = 'query';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: PaymentReconciler,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    attempt: Attempt,
    { paymentIntentId }: { readonly paymentIntentId: string },
  ): Promise<PaymentCallEnd> {
    const loaded = await this.aggregates.load(payment, attempt.id);
    return endOf(await this.reconciler.reconcile(call, attempt, loaded, paymentIntentId));
  }
}

@Handles(ConfirmPayment)
export class ConfirmPaymentHandler implements ICommandHandler<ConfirmPayment> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly lookAtIntent: LookAtIntent,
    private readonly screenings: Screenings,
    private readonly progressed: WhenPaymentProgressed,
    private readonly limiter: RateLimiter,
    private readonly policy: PaymentPolicy,
  ) {}

  async execute({ transactionId, context }: ConfirmPayment): Promise<Payment> {
    const id = paymentIdIn(transactionId);
    if (id === null || !isId(id)) throw new DomainError('payment.not_found');
    const loaded = await this.aggregates.load(payment, id);
    const state = existing(loaded.state);
    const session = await this.screenings.find(state.sessionId);
    if (!session || !isOpenTo(session, session, context)) throw new DomainError('payment.not_found');
    await this.limiter.admit([this.policy.confirm(state.sessionId)]);
    const { paymentIntentId } = state;
    if (state.status === 'SUCCEEDED' || state.canceled || paymentIntentId === null)
      return this.toldToSession(loaded, state);
    const look = this.policy.look(id);
    if ((await this.limiter.take([look])) !== null) return this.toldToSession(loaded, state);
    try {
      return await this.seen(id, state, paymentIntentId, context);
    } catch (error) {
      // The processor gave no answer that the next caller could use, so this read does not count.
      await this.limiter.giveBack([look]);
      throw error;
    }
  }

  private async seen(
    id: string,
    before: Payment,
    paymentIntentId: string,
    context: ConfirmPayment['context'],
  ): Promise<Payment> {
    const attempt = { id, attemptId: newId(), subject: null, context, vendor: before.vendor };
    await this.calls.admit(this.lookAtIntent, attempt);
    const end = await this.calls.make(this.lookAtIntent, attempt, { paymentIntentId });
    const reloaded = await this.aggregates.load(payment, id);
    const after = existing(reloaded.state);
    // When the end of the call is unknown, a change that was recorded in the meantime shows that the processor has answered.
    refuseUnlessRecorded(end === null && after.status !== before.status ? 'recorded' : end);
    return this.toldToSession(reloaded, after);
  }

  /** Another call, such as a webhook event, may have recorded a change that has not reached the session yet. */
  private async toldToSession({ history }: LoadedAggregate<PaymentState>, state: Payment): Promise<Payment> {
    const last = history.at(-1);
    if (last !== undefined) await this.progressed.handle(last);
    return state;
  }
}
