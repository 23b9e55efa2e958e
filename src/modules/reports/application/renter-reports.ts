import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { PartyFacts } from '../../../published/parties.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import type { ReleasedReport } from '../domain/report.js';
import { refuseLocked } from './known-parties.js';
import { ReportBodyStore } from './report-body-store.js';
import { refusalOf } from './report-pull.js';
import { ReportRelease, type PulledReport } from './report-release.js';

/** The report of a renter: that of the newest session in which the renter was verified. */
@Injectable()
export class RenterReports {
  constructor(
    private readonly screenings: Screenings,
    private readonly release: ReportRelease,
    private readonly bodies: ReportBodyStore,
  ) {}

  /** Null when the renter was never verified. */
  async newestSession({ sessionIds }: PartyFacts): Promise<ScreeningFacts | null> {
    for (const sessionId of sessionIds.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session?.status === 'VERIFIED') return session;
    }
    return null;
  }

  /** Of a renter who is not locked out and whose identity is confirmed now. */
  async confirmedSession(renter: PartyFacts): Promise<ScreeningFacts> {
    refuseLocked(renter);
    const session = renter.authenticated ? await this.newestSession(renter) : null;
    if (!session) throw new DomainError('party.not_confirmed');
    return session;
  }

  /** As `ReportRelease.released`, but where the bureau gave no report, what it said is the answer. */
  async released(session: ScreeningFacts, context: CallerContext): Promise<ReleasedReport> {
    const pulled = await this.release.pulled(session, context);
    if (pulled.status === 'RELEASED') return pulled;
    const { attemptId } = pulled.status === 'REQUESTED' ? pulled.attempt : pulled.end;
    const reply = await this.bodies.refusal(pulled, attemptId);
    throw reply ? new DomainError('vendor.refused', { vendor: { reply, step: 'report' } }) : withoutReply(pulled);
  }
}

function withoutReply(pulled: Exclude<PulledReport, ReleasedReport>): DomainError {
  if (pulled.status === 'REQUESTED')
    return new DomainError(pulled.attempt.unintelligible ? 'vendor.unreachable' : 'service.upstream_timeout');
  const { end } = pulled;
  return end.kind === 'failed' && end.cause === 'VENDOR_UNAVAILABLE'
    ? new DomainError('vendor.unreachable')
    : refusalOf(end);
}
