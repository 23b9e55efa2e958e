import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { isOpenTo, type ActionContext, type CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PaymentProcessor, type Charge, type PaymentIntent } from '../../../ports/payment-processor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { Accounts } from '../../../published/accounts.js';
import { Screenings } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';
import { payment, paymentId, transactionIdOf, type Payment, type PaymentState, type Price } from '../domain/payment.js';
import { admitPrice, applicationFeeOf } from '../domain/price.js';
import { splitFunds } from '../domain/split-funds.js';
import { intentOf, PaymentReconciler } from './payment-reconciler.js';

export interface CreatedIntent {
  readonly transactionId: string;
  /** For the consumer's browser; never kept. */
  readonly clientSecret: string;
  readonly amountCents: number;
  readonly currency: string;
}

/**
 * Opens the payment of a session, or takes the open one up again (docs/contract/platform.md#payments): of one session there is one open
 * transaction, whoever asks how often. The processor is called with keys derived from the transaction, after the log says
 * what is wanted, so that whatever dies in between is taken up by the next call.
 */
@UseCase()
export class CreateIntent extends Command<CreatedIntent> {
  constructor(
    readonly sessionId: string,
    /** Cents; what the page says of the application fee, null when nothing. */
    readonly wish: { readonly amountCents: number; readonly applicationFeeCents: number | null },
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** The processor's code for an intent whose state does not allow it any more. */
const WENT_ON = 'payment_intent_unexpected_state';

@Handles(CreateIntent)
export class CreateIntentHandler implements ICommandHandler<CreateIntent> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly observing: PaymentReconciler,
  ) {}

  async execute({ sessionId, wish, context }: CreateIntent): Promise<CreatedIntent> {
    const session = await this.screenings.find(sessionId);
    if (!session || !isOpenTo(session, session, context)) throw new DomainError('screening.not_found');
    if (session.status === 'BLOCKED' || session.status === 'EXPIRED' || session.status === 'ERROR')
      throw new DomainError('payment.session_not_payable');
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (session.paymentStatus === 'NOT_REQUIRED') throw new DomainError('payment.not_required');
    const grant = session.grantId === null ? null : await this.grants.find(session.grantId);
    const terms = {
      fixedByAccount: account.applicationFeeCents,
      saidByGrant: grant?.applicationFeeCents ?? null,
      most: account.maxApplicationFeeCents,
    };
    const price = {
      amountCents: wish.amountCents,
      applicationFeeCents: applicationFeeOf(wish.applicationFeeCents, terms),
    };
    admitPrice(price, account.feeCents, terms);
    const open = {
      kind: 'open',
      sessionId,
      ...price,
      currency: account.currency,
      connectedAccount: account.connectedPaymentAccount,
    } as const;
    for (let ordinal = 0; ; ordinal++) {
      const id = paymentId(sessionId, ordinal);
      const opened = await this.aggregates.execute(payment, id, { ...open, ordinal }, context);
      const created = await this.takeUp(id, opened, price, context);
      if (created !== null) return created;
    }
  }

  /** Null when the processor has canceled this transaction, so that the next one is to be opened. */
  private async takeUp(
    id: string,
    loaded: LoadedAggregate<PaymentState>,
    price: Price,
    context: ActionContext,
  ): Promise<CreatedIntent | null> {
    const before = open(loaded.state);
    if (before === null) return null;
    const observed =
      before.paymentIntentId === null
        ? await this.create(id, loaded, before, context)
        : await this.observing.reconcile(id, loaded, before.paymentIntentId, context);
    const after = open(observed.payment.state);
    if (after === null) return null;
    const chosen = await this.aggregates.execute(
      payment,
      id,
      { kind: 'choose-amount', ...price, intentCents: observed.intent.amountCents },
      context,
      observed.payment,
    );
    const current = open(chosen.state);
    if (current === null) return null;
    const intent = current.changes === 0 ? observed.intent : await this.change(id, current, observed.intent, context);
    return {
      transactionId: transactionIdOf(id),
      clientSecret: intent.clientSecret,
      amountCents: intent.amountCents,
      currency: intent.currency,
    };
  }

  private async create(
    id: string,
    loaded: LoadedAggregate<PaymentState>,
    { opened, sessionId, ...rest }: Payment,
    context: ActionContext,
  ): ReturnType<PaymentReconciler['record']> {
    const transactionId = transactionIdOf(id);
    const call = vendorCall(`${transactionId}:create`, null, context);
    const verdict = await this.processor.createIntent(call, chargeOf(opened, rest), { transactionId, sessionId });
    // What it was opened with cannot be charged, today or later: the next call opens another, by the settings of then.
    if (verdict.kind === 'refused') await this.aggregates.execute(payment, id, { kind: 'abandon' }, context, loaded);
    return this.observing.record(id, loaded, intentOf(verdict), context);
  }

  /** The intent with the amount that was chosen last. Asking again for a change that was made already changes nothing. */
  private async change(
    id: string,
    { price, changes, ...rest }: Payment,
    intent: PaymentIntent,
    context: ActionContext,
  ): Promise<PaymentIntent> {
    const call = vendorCall(`${transactionIdOf(id)}:update:${changes}`, null, context);
    const verdict = await this.processor.changeIntent(call, intent.id, chargeOf(price, rest));
    // It went on meanwhile, in another tab: what it is now decides.
    if (verdict.kind === 'refused' && verdict.code === WENT_ON) throw new DomainError('payment.already_completed');
    return intentOf(verdict);
  }
}

function open(state: PaymentState): Payment | null {
  if (state.status === 'NONE') throw new DomainError('payment.not_found');
  if (state.canceled) return null;
  if (state.status === 'PROCESSING' || state.status === 'SUCCEEDED') throw new DomainError('payment.already_completed');
  return state;
}

function chargeOf(
  { amountCents, applicationFeeCents }: Price,
  { currency, connectedAccount }: Pick<Payment, 'currency' | 'connectedAccount'>,
): Charge {
  const { destination } = splitFunds(amountCents, applicationFeeCents, connectedAccount);
  return { amountCents, currency, connectedAccount: destination, applicationFeeCents };
}
