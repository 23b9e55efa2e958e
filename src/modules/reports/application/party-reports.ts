// Reports of renters on the direct API. Finds the parties that a request names, the session with the report, and the sections to omit.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError, type DomainErrorDetail } from '../../../kernel/domain-error.js';
import { Vault } from '../../../ports/vault.js';
import { Checkouts } from '../../../published/checkouts.js';
import { Parties, type PartyFacts, type PartyKind } from '../../../published/parties.js';
import { Reports } from '../../../published/reports.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import type { ReportFormat } from '../domain/report-view.js';
import type { ReleasedReport } from '../domain/report.js';
import { replyWithoutReport } from './report-bodies.js';
import { notYet, refusalOf } from './report-pull.js';
import { ReportRelease, type PullContext, type PulledReport } from './report-release.js';
import { SECTIONS, type Section } from './report-sections.js';
import type { OpenedReport } from './report-viewer.js';

/** A party that reports are linked to, by the integrator's id. */
export interface NamedParty {
  readonly kind: Exclude<PartyKind, 'renter'>;
  readonly id: string;
}

export interface ReportQuery {
  readonly format: ReportFormat;
  /** Whether a section is omitted. If a flag is absent, the renter's checkout decides about that section. */
  readonly leaveOut: Readonly<Partial<Record<Section, boolean>>>;
}

export interface PartyReport {
  readonly opened: OpenedReport;
  readonly leftOut: ReadonlySet<Section>;
}

/** The report of a renter belongs to the newest session in which the renter was verified. */
@Injectable()
export class PartyReports {
  constructor(
    private readonly parties: Parties,
    private readonly screenings: Screenings,
    private readonly checkouts: Checkouts,
    private readonly release: ReportRelease,
    private readonly directory: Reports,
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {}

  /** Throws if the account has no such renter. */
  async renter(id: string, context: CallerContext): Promise<PartyFacts> {
    const renter = await this.parties.find('renter', id, context);
    if (!renter) throw new DomainError('party.renter_unknown');
    return renter;
  }

  /** Throws if the account has no such agent or organization. */
  async recipient({ kind, id }: NamedParty, context: CallerContext): Promise<PartyFacts> {
    const recipient = await this.parties.find(kind, id, context);
    if (!recipient) throw new DomainError('party.recipient_unknown');
    return recipient;
  }

  /** Null if the renter was never verified. */
  async newestSession({ sessionIds }: PartyFacts): Promise<ScreeningFacts | null> {
    for (const sessionId of sessionIds.toReversed()) {
      const session = await this.screenings.find(sessionId);
      if (session?.status === 'VERIFIED') return session;
    }
    return null;
  }

  /**
   * The session of a renter who is not locked and whose identity is confirmed now. While a pulled report is valid, the newest registration must have
   * been confirmed at some time (docs/contract/direct.md#reports).
   */
  async confirmedSession(renter: PartyFacts): Promise<ScreeningFacts> {
    refuseLocked(renter);
    const session = await this.newestSession(renter);
    if (!session || !(renter.authenticated || (await this.stillHolds(session, renter))))
      throw new DomainError('party.not_confirmed');
    return session;
  }

  private async stillHolds(session: ScreeningFacts, { sessionIds }: PartyFacts): Promise<boolean> {
    const { sessionId } = session;
    if (sessionIds.at(-1) !== sessionId) return false;
    const expiresAt = await this.directory.expiryOf(sessionId);
    return expiresAt !== null && (await this.clock.of(session)) < new Date(expiresAt);
  }

  /** Like `ReportRelease.released`. When the bureau replied without a report, that reply becomes the error. */
  async released(session: ScreeningFacts, context: PullContext): Promise<ReleasedReport> {
    // A new reply of the bureau is passed on unchanged. When an earlier reply is repeated, the time of the next try is added.
    const again = await this.release.stands(session);
    const pulled = await this.release.pulled(session, context);
    if (pulled.status === 'RELEASED') return pulled;
    const { attemptId } = pulled.status === 'REQUESTED' ? pulled.attempt : pulled.end;
    const reply = await replyWithoutReport(this.vault, pulled, attemptId);
    throw reply
      ? new DomainError('vendor.refused', { vendor: { reply, step: 'report' }, ...again })
      : withoutReply(pulled, again, this.clock.now());
  }

  async leftOut({ partyId }: PartyFacts, { leaveOut }: ReportQuery): Promise<ReadonlySet<Section>> {
    const { excludeBackground: background, excludeHousingCourt: housingCourt } =
      await this.checkouts.reportFlags(partyId);
    const flags = { background, housingCourt, ...leaveOut };
    return new Set(SECTIONS.filter((section) => flags[section] === true));
  }
}

/** A party that is locked after wrong answers gets no report until the lock ends. */
export function refuseLocked({ lockedUntil }: PartyFacts): void {
  if (lockedUntil !== null) throw new DomainError('party.locked', { blockedUntil: lockedUntil });
}

function withoutReply(
  pulled: Exclude<PulledReport, ReleasedReport>,
  again: Pick<DomainErrorDetail, 'retryAfterSeconds'>,
  now: Date,
): DomainError {
  if (pulled.status === 'REQUESTED') return notYet(pulled.attempt, now, 'vendor.unreachable');
  const { end } = pulled;
  return end.kind === 'failed' && end.cause === 'VENDOR_UNAVAILABLE'
    ? new DomainError('vendor.unreachable')
    : refusalOf(end, again);
}
