import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Accounts } from '../../../published/accounts.js';
import { Parties } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import type { Opening, Registration } from '../domain/checkout.js';
import { checkoutPrice } from '../domain/price.js';

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
    private readonly parties: Parties,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
  ) {}

  async of(renterId: string, context: CallerContext): Promise<Terms> {
    const party = await this.parties.find('renter', renterId, context);
    const session = party && (await this.newestOf(party.sessionIds));
    if (!party || !session) throw new DomainError('checkout.renter_unknown');
    if (party.lockedUntil !== null) throw new DomainError('party.locked', { blockedUntil: party.lockedUntil });
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    // The report could not be pulled.
    if (!this.accounts.mayReachVendors(account, context.environment)) throw new DomainError('account.not_live');
    if (session.paymentStatus === 'NOT_REQUIRED') throw new DomainError('payment.not_required');
    // However long ago: after the guard too, nobody pays twice for one session.
    if (session.paymentStatus === 'SUCCEEDED') throw new DomainError('checkout.already_paid');
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
}
