// Earlier sessions of a person that make the service refuse another submission.
import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Reports } from '../../../published/reports.js';
import { Screenings } from '../../../published/screenings.js';
import { overallStatusOf } from '../domain/overall-status.js';
import { isOfPerson, isUnderReview, personBlocked, screeningSession } from '../domain/screening-session.js';
import type { Session } from '../domain/session.js';
import type { PersonNames } from './person-names.js';
import { ScreeningPolicy } from './screening-policy.js';
import type { ScreeningRequest } from './submission.js';

type VerifiedSession = Extract<Session, { status: 'VERIFIED' }>;

@Injectable()
export class EarlierScreenings {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reports: Reports,
    private readonly screenings: Screenings,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  /**
   * Throws for a locked person, for a person under review, and for a person with a completed screening that is still valid (docs/contract/platform.md#codes-and-answers,
   * #registering-twice). A screening of the same party does not count, because the rules of parties decide whether it may be screened again.
   */
  async refuse(
    sessionIds: readonly string[],
    names: PersonNames,
    { applicant: { userType }, partyId }: ScreeningRequest,
    context: ActionContext,
  ): Promise<void> {
    const now = await this.clock.of(context);
    const earlier = await Promise.all(
      sessionIds.map(async (sessionId) => ({
        sessionId,
        ...(await this.aggregates.load(screeningSession, sessionId)),
      })),
    );
    for (const { sessionId, state } of earlier) {
      if (state.status === 'NONE') continue;
      refuseBlocked(state, now);
      const isSame = isOfPerson(state, names) && state.userType === userType;
      const isAnothers = partyId === null || state.partyId !== partyId;
      // Another registration of the person would be billed, and people would decide twice.
      if (isSame && isAnothers && isUnderReview(state)) throw new DomainError('screening.attempt_in_progress');
      if (!isSame || !isAnothers || !isGuarded(state, context.environment)) continue;
      if (await this.stillServes(sessionId, state, now)) throw new DomainError('screening.already_registered');
    }
  }

  /** A screening is valid until its report expires. If its report was not read yet, it is valid for the same period from the verification on. */
  private async stillServes(sessionId: string, { verifiedAt, userType }: VerifiedSession, now: Date): Promise<boolean> {
    if (userType === 'CONSUMER' && (await this.screenings.reportProspect(sessionId)) !== 'possible') return false;
    const reportExpiresAt = await this.reports.expiryOf(sessionId);
    const until =
      reportExpiresAt === null
        ? new Date(verifiedAt).getTime() + this.policy.limits.reportValiditySeconds * 1_000
        : new Date(reportExpiresAt).getTime();
    return until > now.getTime();
  }
}

/** Throws while the session blocks the person. */
function refuseBlocked(session: Session, now: Date): void {
  if (session.status === 'BLOCKED' && session.blockedUntil !== null && new Date(session.blockedUntil) > now)
    throw personBlocked(session.blockedUntil);
}

function isGuarded(session: Session, environment: ActionContext['environment']): session is VerifiedSession {
  return (
    session.status === 'VERIFIED' &&
    overallStatusOf(session) === 'COMPLETED' &&
    (environment === 'live' || session.duplicateGuard)
  );
}
