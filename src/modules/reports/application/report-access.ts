// Decides whether an account may see a session's report (docs/contract/platform.md#checks-before-a-report). Pulls nothing and bills
// nothing.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { isOver, share, shareIdOf, type ActiveShare } from '../domain/share.js';

@Injectable()
export class ReportAccess {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** An unknown and a malformed id get the same error. So do a session of another environment and one of another grant. */
  async session(sessionId: string, context: CallerContext): Promise<ScreeningFacts> {
    const session = await this.screenings.find(sessionId);
    if (!session || session.environment !== context.environment) throw new DomainError('screening.not_found');
    if (session.accountId === context.accountId && !isOpenTo(session, session, context))
      throw new DomainError('screening.not_found');
    return session;
  }

  /** The caller's own session, for callers that act for the consumer. */
  async ownSession(sessionId: string, context: CallerContext): Promise<ScreeningFacts> {
    const session = await this.session(sessionId, context);
    if (session.accountId !== context.accountId) throw new DomainError('screening.not_found');
    return session;
  }

  /** All checks between the session's own account and its report, except the credit. */
  async admitOwner(session: ScreeningFacts): Promise<void> {
    await this.admitPull(session);
    if (session.overallStatus !== 'COMPLETED') throw new DomainError('report.consumer_has_not_paid');
  }

  /** Like `admitOwner`, without the check that the consumer has paid. */
  async admitPull(session: ScreeningFacts): Promise<void> {
    if (session.userType !== 'CONSUMER') throw new DomainError('report.access_denied');
    if (session.status === 'BLOCKED') throw this.blocked(session.block);
    if (session.status !== 'VERIFIED') throw new DomainError('report.not_completed');
    const account = await this.accounts.find(session.accountId);
    if (!account || !this.accounts.mayReachVendors(account, session.environment))
      throw new DomainError('account.not_live');
  }

  /** The share with which the account may see the report now. It is read from its stream, so that a revocation counts at once. */
  async shareWith(session: ScreeningFacts, accountId: string): Promise<ActiveShare> {
    const { state } = await this.aggregates.load(share, shareIdOf(session.sessionId, accountId));
    switch (state.status) {
      case 'NONE':
        // The session names the account as recipient, but the consumer has not consented.
        throw new DomainError(session.intendedRecipientId === accountId ? 'sharing.expired' : 'sharing.not_found');
      case 'REVOKED':
        throw new DomainError('sharing.revoked');
      case 'SHARED':
        if (isOver(state, this.clock.now())) throw new DomainError('sharing.expired');
        return state;
      default:
        return state satisfies never;
    }
  }

  /** Like `shareWith`, for an account that needs no share but may have one. Returns null instead of throwing. */
  async ownShare({ sessionId, accountId }: ScreeningFacts): Promise<ActiveShare | null> {
    const { state } = await this.aggregates.load(share, shareIdOf(sessionId, accountId));
    return state.status === 'SHARED' && !isOver(state, this.clock.now()) ? state : null;
  }

  private blocked(block: ScreeningFacts['block']): DomainError {
    if (block?.reasonCode === 'IDENTITY_NOT_FOUND') return new DomainError('screening.identity_not_found');
    const over =
      block?.reasonCode === 'TOO_MANY_ATTEMPTS' && block.until !== null && new Date(block.until) <= this.clock.now();
    return new DomainError(over ? 'report.too_many_attempts' : 'screening.person_blocked');
  }
}
