import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { SessionGrants } from '../../../published/session-grants.js';
import {
  isPayable,
  isReturned,
  payment,
  paymentId,
  transactionIdOf,
  type Payment,
  type PaymentCommand,
} from '../domain/payment.js';
import { admitPrice, applicationFeeOf } from '../domain/price.js';
import { existing, refuseUnlessRecorded } from './payment-call.js';
import { PaymentPolicy } from './payment-policy.js';
import { PaymentSecrets } from './payment-secrets.js';
import { refuseInVain } from './refuse-in-vain.js';
import { TakeUpIntent, type TakenUp } from './take-up-intent.js';

export interface CreatedIntent {
  readonly transactionId: string;
  /** The secret for the consumer's browser. */
  readonly clientSecret: string;
  readonly amountCents: number;
  readonly currency: string;
}

/**
 * Opens the payment of a session, or continues the open one (docs/contract/platform.md#payments). A session has one open transaction, even if the
 * page repeats its request. The log records the request before the processor is called, with keys derived from the transaction. If a process dies in
 * between, the next call continues.
 */
@UseCase()
export class CreateIntent extends Command<CreatedIntent> {
  constructor(
    readonly sessionId: string,
    /** In cents. `applicationFeeCents` is null if the page names no fee. */
    readonly wish: { readonly amountCents: number; readonly applicationFeeCents: number | null },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(CreateIntent)
export class CreateIntentHandler implements ICommandHandler<CreateIntent> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly takeUpIntent: TakeUpIntent,
    private readonly secrets: PaymentSecrets,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly limiter: RateLimiter,
    private readonly policy: PaymentPolicy,
  ) {}

  async execute({ sessionId, wish, context }: CreateIntent): Promise<CreatedIntent> {
    const session = await this.openSession(sessionId, context);
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (session.paymentStatus === 'NOT_REQUIRED') throw new DomainError('payment.not_required');
    // A transaction of an earlier session may have paid for this session too.
    if (session.paymentStatus === 'SUCCEEDED') throw new DomainError('payment.already_completed');
    await refuseInVain(session, this.screenings);
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
    await this.limiter.admit([this.policy.intent(sessionId)]);
    // Throws while the vault is unavailable. No transaction is opened then, because the browser's secret could not be stored.
    await this.secrets.isErased(session.subjectId);
    const open = {
      kind: 'open',
      sessionId,
      ...price,
      currency: account.currency,
      connectedAccount: account.connectedPaymentAccount,
      subjectId: session.subjectId,
      ...(account.refundAfterDays && { refundAfterDays: account.refundAfterDays }),
      vendor: account.vendors.payment ?? FIRST_VENDORS.payment,
    } as const;
    for (let ordinal = 0; ; ordinal++) {
      const id = paymentId(sessionId, ordinal);
      const created = await this.takeUp(id, { ...open, ordinal }, { price, subjectId: session.subjectId }, context);
      if (created !== null) return created;
    }
  }

  private async openSession(sessionId: string, context: CallerContext): Promise<ScreeningFacts> {
    const session = await this.screenings.find(sessionId);
    if (!session || !isOpenTo(session, session, context)) throw new DomainError('screening.not_found');
    if (session.status === 'BLOCKED' || session.status === 'EXPIRED' || session.status === 'ERROR')
      throw new DomainError('payment.session_not_payable');
    return session;
  }

  /** Null if this transaction was canceled or refunded, so that the next transaction must be opened. */
  private async takeUp(
    id: string,
    open: Extract<PaymentCommand, { kind: 'open' }> & { readonly vendor: string },
    wanted: Omit<TakenUp, 'isAgain'>,
    context: CallerContext,
  ): Promise<CreatedIntent | null> {
    const { state: before } = await this.aggregates.load(payment, id);
    const isAgain = before.status !== 'NONE';
    if (isAgain && !mayBePaid(before)) return null;
    const asked = { ...wanted, isAgain };
    const vendor = isAgain ? before.vendor : open.vendor;
    const attempt = { id, attemptId: newId(), subject: null, context, vendor };
    await this.calls.admit(this.takeUpIntent, attempt);
    let reserved = false;
    try {
      await this.aggregates.execute(payment, id, open, context);
      reserved = true;
    } finally {
      if (!reserved) await this.calls.withdraw(this.takeUpIntent, attempt);
    }
    refuseUnlessRecorded(
      (await this.calls.make(this.takeUpIntent, attempt, asked)) ?? (await this.recorded(id, asked)),
    );
    const after = existing((await this.aggregates.load(payment, id)).state);
    if (!mayBePaid(after)) return null;
    const clientSecret = await this.secrets.of(asked.subjectId, id);
    // The payment has ended since the use case loaded it.
    if (clientSecret === null) throw new DomainError('payment.already_completed');
    const { amountCents } = asked.price;
    return { transactionId: transactionIdOf(id), clientSecret, amountCents, currency: after.currency };
  }

  /** Whether the payment has an intent with that price and a stored secret. Used after a call whose end is unknown. */
  private async recorded(id: string, { price, subjectId }: Omit<TakenUp, 'isAgain'>): Promise<'recorded' | null> {
    const { paymentIntentId, opened, changes } = existing((await this.aggregates.load(payment, id)).state);
    // After a change, the log cannot tell whether the processor received the change.
    const asAsked =
      changes === 0 &&
      opened.amountCents === price.amountCents &&
      opened.applicationFeeCents === price.applicationFeeCents;
    if (paymentIntentId === null || !asAsked) return null;
    return (await this.secrets.of(subjectId, id)) === null ? null : 'recorded';
  }
}

/** False if the payment was canceled or refunded, so that another payment may be opened. */
function mayBePaid(payment: Payment): boolean {
  if (payment.canceled || isReturned(payment)) return false;
  if (!isPayable(payment)) throw new DomainError('payment.already_completed');
  return true;
}
