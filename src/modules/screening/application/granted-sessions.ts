// The part of session grants that a submission uses (docs/contract/server.md#values-of-a-grant).
import { Injectable } from '@nestjs/common';
import type { ActionContext, CallerContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { AccountFacts } from '../../../published/accounts.js';
import { purposeOfRead } from '../../../published/purposes.js';
import { Reports } from '../../../published/reports.js';
import { Screenings } from '../../../published/screenings.js';
import { SessionGrants, type BegunSession, type GrantFacts } from '../../../published/session-grants.js';
import { screeningSession } from '../domain/screening-session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { namedPurpose, type ScreeningRequest } from './submission.js';

@Injectable()
export class GrantedSessions {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly grants: SessionGrants,
    private readonly reports: Reports,
    private readonly screenings: Screenings,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  /** The grant of a submission; null if none exists. A purpose that the grant or the page names must be certified. */
  async of(
    { grantId, applicant, said }: ScreeningRequest,
    account: AccountFacts,
    context: CallerContext,
  ): Promise<GrantFacts | null> {
    const grant = grantId === null ? null : await this.grants.find(grantId);
    if (grant && grant.userType !== null && grant.userType !== applicant.userType)
      throw fieldError('request.invalid', 'person.userType', `must be ${grant.userType}, as the session grant says`);
    const named = namedPurpose(grant, said);
    if (applicant.userType === 'CONSUMER' && named.purpose !== null)
      purposeOfRead(account, [named], await this.clock.of(context));
    return grant;
  }

  /** A grant has one session. The grant gets another session only after the first has ended without success. */
  async begin(grantId: string, sessionId: string, subjectId: string, context: ActionContext): Promise<void> {
    let begun = await this.grants.begin(grantId, sessionId, null, context);
    if (begun.sessionId !== sessionId && (await this.isOverInVain(begun)))
      begun = await this.grants.begin(grantId, sessionId, begun.sessionId, context);
    if (begun.sessionId !== sessionId)
      throw new DomainError('request.forbidden', {
        rule: 'Another session was opened under this session grant.',
        sessionId: begun.sessionId,
      });
    await this.grants.moveDetails(grantId, subjectId, context);
  }

  /**
   * A session that was never stored counts as ended when no process can store it any more. A verified session counts as ended when it has no report
   * and can no longer get one.
   */
  private async isOverInVain({ sessionId, begunAt }: BegunSession): Promise<boolean> {
    const { state } = await this.aggregates.load(screeningSession, sessionId);
    if (state.status === 'NONE')
      return this.clock.now().getTime() > new Date(begunAt).getTime() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    if (state.status === 'VERIFIED')
      return (
        state.userType === 'CONSUMER' &&
        (await this.reports.expiryOf(sessionId)) === null &&
        (await this.screenings.reportProspect(sessionId)) === 'none'
      );
    return state.status === 'BLOCKED' || state.status === 'EXPIRED' || state.status === 'ERROR';
  }
}
