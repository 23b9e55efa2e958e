import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError, type DomainErrorDetail } from '../../../kernel/domain-error.js';
import type { PartyFacts } from '../../../published/parties.js';
import { Reports } from '../../../published/reports.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import type { ReleasedReport } from '../domain/report.js';
import { refuseLocked } from './known-parties.js';
import { ReportBodyStore } from './report-body-store.js';
import { refusalOf } from './report-pull.js';
import { ReportRelease, type PulledReport } from './report-release.js';

/** The report of a renter belongs to the newest session in which the renter was verified. */
@Injectable()
export class RenterReports {
  constructor(
    private readonly screenings: Screenings,
    private readonly release: ReportRelease,
    private readonly bodies: ReportBodyStore,
    private readonly directory: Reports,
    private readonly clock: Clock,
  ) {}

  /** Null when the renter was never verified. */
  async newestSession({ sessionIds }: PartyFacts): Promise<ScreeningFacts | null> {
    for (const sessionId of sessionIds.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session?.status === 'VERIFIED') return session;
    }
    return null;
  }

  /**
   * The session of a renter who is not locked and whose identity is confirmed now.
   * While a pulled report is still valid, it is enough that the newest registration was confirmed, however long ago
   * (docs/contract/direct.md#reports).
   */
  async confirmedSession(renter: PartyFacts): Promise<ScreeningFacts> {
    refuseLocked(renter);
    const session = await this.newestSession(renter);
    if (!session || !(renter.authenticated || (await this.stillHolds(session, renter))))
      throw new DomainError('party.not_confirmed');
    return session;
  }

  private async stillHolds({ sessionId }: ScreeningFacts, { sessionIds }: PartyFacts): Promise<boolean> {
    if (sessionIds.at(-1) !== sessionId) return false;
    const expiresAt = await this.directory.expiryOf(sessionId);
    return expiresAt !== null && this.clock.now() < new Date(expiresAt);
  }

  /** Like `ReportRelease.released`, but a bureau's reply without a report is passed on as the error. */
  async released(session: ScreeningFacts, context: CallerContext): Promise<ReleasedReport> {
    // A new reply of the bureau is passed on as it came. A reply that is repeated adds the time of the next try.
    const again = await this.release.stands(session.sessionId);
    const pulled = await this.release.pulled(session, context);
    if (pulled.status === 'RELEASED') return pulled;
    const { attemptId } = pulled.status === 'REQUESTED' ? pulled.attempt : pulled.end;
    const reply = await this.bodies.refusal(pulled, attemptId);
    throw reply
      ? new DomainError('vendor.refused', { vendor: { reply, step: 'report' }, ...again })
      : withoutReply(pulled, again);
  }
}

function withoutReply(
  pulled: Exclude<PulledReport, ReleasedReport>,
  again: Pick<DomainErrorDetail, 'retryAfterSeconds'>,
): DomainError {
  if (pulled.status === 'REQUESTED')
    return new DomainError(pulled.attempt.unintelligible ? 'vendor.unreachable' : 'service.upstream_timeout');
  const { end } = pulled;
  return end.kind === 'failed' && end.cause === 'VENDOR_UNAVAILABLE'
    ? new DomainError('vendor.unreachable')
    : refusalOf(end, again);
}
