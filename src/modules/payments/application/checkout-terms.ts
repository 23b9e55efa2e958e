import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { Parties } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { guardEnd, type Opening, type Registration } from '../domain/checkout.js';
import { checkoutPrice } from '../domain/price.js';
import { payment, paymentId } from '../domain/payment.js';
import { CheckoutPolicy } from './checkout-policy.js';

/** For whom, and what it costs. */
export interface Terms extends Pick<
  Opening,
  'subjectId' | 'amountCents' | 'applicationFeeCents' | 'currency' | 'connectedAccount'
> {
  readonly partyId: string;
  readonly newest: Registration;
}

/** Whether a renter may be sent to pay, and what they pay. */
@Injectable()
export class CheckoutTerms {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly parties: Parties,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly policy: CheckoutPolicy,
    private readonly clock: Clock,
  ) {}

  async of(renterId: string, context: CallerContext): Promise<Terms> {
    const party = await this.parties.find('renter', renterId, context);
    const session = party && (await this.newestOf(party.sessionIds));
    if (!party || !session) throw new DomainError('checkout.renter_unknown');
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (session.paymentStatus === 'NOT_REQUIRED') throw new DomainError('payment.not_required');
    if (await this.paidByIntent(session)) throw new DomainError('checkout.already_paid');
    if (session.status === 'BLOCKED' || session.status === 'EXPIRED' || session.status === 'ERROR')
      throw new DomainError('payment.session_not_payable');
    const price = checkoutPrice(account);
    if (price === null) throw new DomainError('checkout.misconfigured');
    return {
      partyId: party.partyId,
      newest: { sessionId: session.sessionId, registeredAt: session.createdAt },
      subjectId: session.subjectId,
      ...price,
      currency: account.currency,
      connectedAccount: account.connectedPaymentAccount,
    };
  }

  /** A party names its session before it is opened, so the last one may not be there yet, or never. */
  private async newestOf(sessionIds: readonly string[]): Promise<ScreeningFacts | null> {
    for (const sessionId of sessionIds.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session !== null) return session;
    }
    return null;
  }

  /** Whether the consumer pays or has paid for the same session on the platform, within the guard: nobody is charged twice for one report. */
  private async paidByIntent({ sessionId, paymentStatus }: ScreeningFacts): Promise<boolean> {
    if (paymentStatus === 'PROCESSING') return true;
    if (paymentStatus !== 'SUCCEEDED') return false;
    for (let ordinal = 0; ; ordinal += 1) {
      const { state, history } = await this.aggregates.load(payment, paymentId(sessionId, ordinal));
      if (state.status === 'NONE') return false;
      const succeeded = history.find(({ type }) => type === 'PaymentSucceeded');
      if (succeeded !== undefined)
        return this.clock.now() < guardEnd(succeeded.metadata.occurredAt, this.policy.guardSeconds);
    }
  }
}
