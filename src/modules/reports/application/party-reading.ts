// The rules for servers of the direct API that open reports: their query, the sections they get, and their rate limit.
import { Injectable } from '@nestjs/common';
import type { CallerContext } from '../../../kernel/context.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { Checkouts } from '../../../published/checkouts.js';
import type { PartyFacts } from '../../../published/parties.js';
import type { ReportFormat } from '../domain/report-view.js';
import { ReportPolicy } from './report-policy.js';
import { SECTIONS, type Section } from './report-sections.js';
import type { OpenedReport } from './report-viewer.js';

export interface ReportQuery {
  readonly format: ReportFormat;
  /** Whether a section is left out. The renter's checkout decides about sections without a flag here. */
  readonly leaveOut: Readonly<Partial<Record<Section, boolean>>>;
}

export interface PartyReport {
  readonly opened: OpenedReport;
  readonly leftOut: ReadonlySet<Section>;
}

@Injectable()
export class PartyReading {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly checkouts: Checkouts,
    private readonly policy: ReportPolicy,
  ) {}

  /** Refuses an account that has read too often. */
  async admit(context: CallerContext): Promise<void> {
    await this.limiter.admit([this.policy.reading(context)]);
  }

  async leftOut({ partyId }: PartyFacts, { leaveOut }: ReportQuery): Promise<ReadonlySet<Section>> {
    const { excludeBackground: background, excludeHousingCourt: housingCourt } =
      await this.checkouts.reportFlags(partyId);
    const flags = { background, housingCourt, ...leaveOut };
    return new Set(SECTIONS.filter((section) => flags[section] === true));
  }
}
