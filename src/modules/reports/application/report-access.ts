// Decides whether an account may see a session's report (docs/contract/platform.md#checks-before-a-report). The decision pulls nothing and bills
// nothing. Shares and links are read from their streams, so that a revocation has its effect at once.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import type { PartyFacts } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { isOver, share, shareIdOf, type ActiveShare } from '../domain/share.js';
import { ReportPolicy } from './report-policy.js';

@Injectable()
export class ReportAccess {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly accounts: Accounts,
    private readonly limiter: RateLimiter,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {}

  /** Refuses a caller that has read too often. */
  async countRead(context: CallerContext): Promise<void> {
    await this.limiter.admit([this.policy.reading(context)]);
  }

  /** An unknown and a malformed id get the same error, and so do sessions of another environment or another grant. */
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

  /** For a server: a session of its own account or a direct child (docs/contract/server.md#readable-sessions). */
  async sessionOnServer(sessionId: string, { accountId, environment }: CallerContext): Promise<ScreeningFacts> {
    const session = await this.screenings.find(sessionId);
    const isFound = session?.environment === environment && (await this.accounts.mayRead(accountId, session.accountId));
    if (!isFound) throw new DomainError('screening.not_found');
    return session;
  }

  /** All checks that the session's own account must pass before its report, except the check of the credit. */
  async admitOwner(session: ScreeningFacts): Promise<void> {
    await this.admitPull(session);
    if (session.overallStatus !== 'COMPLETED') throw new DomainError('report.consumer_has_not_paid');
  }

  /** Like `admitOwner`, without the check that the consumer has paid. */
  async admitPull(session: ScreeningFacts): Promise<void> {
    if (session.userType !== 'CONSUMER') throw new DomainError('report.access_denied');
    if (session.status === 'BLOCKED') throw this.blocked(session.block, await this.clock.of(session));
    if (session.status !== 'VERIFIED') throw new DomainError('report.not_completed');
    const account = await this.accounts.find(session.accountId);
    if (!account || !this.accounts.mayReachVendors(account, session.environment))
      throw new DomainError('account.not_live');
  }

  /** The share that lets the account see the report now. */
  async shareWith(session: ScreeningFacts, accountId: string): Promise<ActiveShare> {
    const { state } = await this.aggregates.load(share, shareIdOf(session.sessionId, accountId));
    switch (state.status) {
      case 'NONE':
        // The session names the account as recipient, but the consumer has not consented.
        throw new DomainError(session.intendedRecipientId === accountId ? 'sharing.expired' : 'sharing.not_found');
      case 'REVOKED':
        throw new DomainError('sharing.revoked');
      case 'SHARED':
        if (isOver(state, await this.clock.of(session))) throw new DomainError('sharing.expired');
        return state;
      default:
        return state satisfies never;
    }
  }

  /** Like `shareWith`, for an account that can read the report without a share. This function returns null instead of throwing an error. */
  async ownShare(session: ScreeningFacts): Promise<ActiveShare | null> {
    const { state } = await this.aggregates.load(share, shareIdOf(session.sessionId, session.accountId));
    return state.status === 'SHARED' && !isOver(state, await this.clock.of(session)) ? state : null;
  }

  /** The newest link between the renter's reports and the recipient that has not expired. `over` when all links have expired. */
  async newestLink(
    renter: PartyFacts,
    recipient: PartyFacts,
    context: CallerContext,
  ): Promise<ActiveShare | 'over' | null> {
    const links = await this.links(renter, recipient);
    const now = await this.clock.of(context);
    return links.findLast((link) => !isOver(link, now)) ?? (links.length > 0 ? 'over' : null);
  }

  /** The links, one share for each session, in the order of the sessions and without revoked links. */
  async links({ sessionIds }: PartyFacts, { partyId }: PartyFacts): Promise<ActiveShare[]> {
    const links = await Promise.all(
      sessionIds.map(async (sessionId) => (await this.aggregates.load(share, shareIdOf(sessionId, partyId))).state),
    );
    return links.filter((link) => link.status === 'SHARED');
  }

  private blocked(block: ScreeningFacts['block'], now: Date): DomainError {
    if (block?.reasonCode === 'IDENTITY_NOT_FOUND') return new DomainError('screening.identity_not_found');
    const over = block?.reasonCode === 'TOO_MANY_ATTEMPTS' && block.until !== null && new Date(block.until) <= now;
    return new DomainError(over ? 'report.too_many_attempts' : 'screening.person_blocked');
  }
}
