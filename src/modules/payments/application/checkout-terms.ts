import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { Accounts } from '../../../published/accounts.js';
import { Parties, type PartyFacts } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import type { Opening, Registration } from '../domain/checkout.js';
import { checkoutPrice } from '../domain/price.js';
import { refuseInVain } from './refuse-in-vain.js';

/** The renter of a checkout, and its price. */
export interface Terms extends Pick<
  Opening,
  'subjectId' | 'amountCents' | 'applicationFeeCents' | 'currency' | 'connectedAccount' | 'refundAfterDays' | 'vendor'
> {
  readonly partyId: string;
  readonly newest: Registration;
}

/** Decides whether a renter may be sent to the payment page, and sets the price. */
@Injectable()
export class CheckoutTerms {
  constructor(
    private readonly parties: Parties,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
  ) {}

  async of(renterId: string, context: CallerContext): Promise<Terms> {
    const { party, session } = await this.find(renterId, context);
    if (party.lockedUntil !== null) throw new DomainError('party.locked', { blockedUntil: party.lockedUntil });
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    // An account without live traffic could not pull the report after the payment.
    if (!this.accounts.mayReachVendors(account, context.environment)) throw new DomainError('account.not_live');
    if (session.paymentStatus === 'NOT_REQUIRED') throw new DomainError('payment.not_required');
    // This rule has no time limit: a session is paid only once, even after the guard period.
    if (session.paymentStatus === 'SUCCEEDED') throw new DomainError('checkout.already_paid');
    if (session.status === 'BLOCKED' || session.status === 'EXPIRED' || session.status === 'ERROR')
      throw new DomainError('payment.session_not_payable');
    await refuseInVain(session, this.screenings);
    const price = checkoutPrice(account);
    if (price === null) throw new DomainError('checkout.misconfigured');
    return {
      partyId: party.partyId,
      newest: registrationOf(session),
      subjectId: session.subjectId,
      ...price,
      currency: account.currency,
      connectedAccount: account.connectedPaymentAccount,
      ...(account.refundAfterDays && { refundAfterDays: account.refundAfterDays }),
      vendor: account.vendors.payment ?? FIRST_VENDORS.payment,
    };
  }

  /** The renter's newest screening session at this moment. */
  async newest(renterId: string, context: CallerContext): Promise<Registration> {
    return registrationOf((await this.find(renterId, context)).session);
  }

  private async find(
    renterId: string,
    context: CallerContext,
  ): Promise<{ readonly party: PartyFacts; readonly session: ScreeningFacts }> {
    const party = await this.parties.find('renter', renterId, context);
    const session = party && (await this.newestOf(party.sessionIds));
    if (!party || !session) throw new DomainError('checkout.renter_unknown');
    return { party, session };
  }

  /** A party names a session before the session is opened. The last session may therefore not exist yet, and may never exist. */
  private async newestOf(sessionIds: readonly string[]): Promise<ScreeningFacts | null> {
    for (const sessionId of sessionIds.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session !== null) return session;
    }
    return null;
  }
}

function registrationOf({ sessionId, createdAt }: ScreeningFacts): Registration {
  return { sessionId, registeredAt: createdAt };
}
