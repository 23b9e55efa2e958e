// The call that makes sure that a payment has an intent at its processor. CreateIntent makes this call.
import { Injectable } from '@nestjs/common';
import type { Attempt } from '../../../external-calls/external-call.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type IntentVerdict } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { isPayable, payment, transactionIdOf, type PaymentState, type Price } from '../domain/payment.js';
import { chargeOf } from './charge-of.js';
import { atProcessor, endOf, existing, isHopeless, PaymentCall, type PaymentCallEnd } from './payment-call.js';
import { PaymentReconciler, type Observed } from './payment-reconciler.js';
import { PaymentSecrets } from './payment-secrets.js';

/** The request of a caller to take up a payment. */
export interface TakenUp {
  /** Whether an earlier request opened the payment. */
  readonly isAgain: boolean;
  /** The price that the caller requests. */
  readonly price: Price;
  /** The vault subject of the browser's secret. */
  readonly subjectId: string;
}

/** Makes sure that an open payment has an intent with the newest price. */
@Injectable()
export class TakeUpIntent extends PaymentCall<TakenUp> {
  override readonly operation = 'take-up-intent';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly reconciler: PaymentReconciler,
    private readonly secrets: PaymentSecrets,
  ) {
    super();
  }

  override async askAndRecord(made: VendorCall, attempt: Attempt, taken: TakenUp): Promise<PaymentCallEnd> {
    const { id, context } = attempt;
    const { price, subjectId } = taken;
    if (await this.secrets.isErased(subjectId)) return 'person-erased';
    const loaded = await this.aggregates.load(payment, id);
    const { paymentIntentId, vendor } = existing(loaded.state);
    const call = atProcessor(made, { vendor });
    const observed =
      paymentIntentId === null
        ? await this.create(call, attempt, loaded, taken)
        : await this.reconciler.reconcile(call, attempt, loaded, paymentIntentId);
    if (typeof observed === 'string') return observed;
    if (observed.kind !== 'intent' || !isPayable(observed.payment.state)) return endOf(observed);
    // The intent may come from a release that did not store secrets yet.
    if (!(await this.secrets.keep(subjectId, id, observed.intent.clientSecret))) return 'person-erased';
    const { amountCents, currency } = observed.intent;
    // An intent in another currency was altered at the processor, so the service never requested its amount.
    const intentCents = currency === observed.payment.state.currency ? amountCents : 0;
    const choice = { kind: 'choose-amount', ...price, intentCents } as const;
    const chosen = existing(
      (await this.aggregates.execute(payment, { id, known: observed.payment }, choice, context)).state,
    );
    if (!isPayable(chosen) || chosen.changes === 0) return 'recorded';
    const change = (attemptId: string): Promise<IntentVerdict> =>
      this.processor.changeIntent({ ...call, attemptId }, observed.intent.id, chargeOf(chosen.price, chosen));
    // The idempotency key names the change, so the processor does not repeat a change that was already made.
    const key = `${transactionIdOf(id)}:update:${chosen.changes}`;
    const first = await change(key);
    return endOf(first.kind === 'not-made' ? await change(`${key}:${call.attemptId}`) : first);
  }

  private async create(
    call: VendorCall,
    { id, context }: Attempt,
    loaded: LoadedAggregate<PaymentState>,
    { subjectId, isAgain }: TakenUp,
  ): Promise<Observed | PaymentCallEnd> {
    const { opened, sessionId, ...rest } = existing(loaded.state);
    const transactionId = transactionIdOf(id);
    const verdict = await this.processor.createIntent(
      { ...call, attemptId: `${transactionId}:create` },
      chargeOf(opened, rest),
      { transactionId, sessionId },
    );
    // An intent can never be made under this key. The next call opens another transaction with the settings of its own time. If the processor did
    // make an intent, no browser has its secret.
    if (isHopeless(verdict) || (isAgain && verdict.kind === 'unintelligible'))
      await this.aggregates.execute(payment, { id, known: loaded }, { kind: 'abandon' }, context);
    if (verdict.kind !== 'intent') return endOf(verdict);
    // The vault stores the secret before the log records the intent.
    if (!(await this.secrets.keep(subjectId, id, verdict.intent.clientSecret))) return 'person-erased';
    return this.reconciler.record(id, loaded, verdict.intent, context);
  }
}
