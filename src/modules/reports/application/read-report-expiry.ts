import { Query, type IQueryHandler } from '@nestjs/cqrs';
import type { CallerContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Reports } from '../../../published/reports.js';
import { PartyReports, refuseLocked } from './party-reports.js';

/** The expiry of a renter's report, past or future, ISO 8601 UTC; null before the first pull. */
@UseCase()
export class ReadReportExpiry extends Query<string | null> {
  constructor(
    readonly renterId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(ReadReportExpiry)
export class ReadReportExpiryHandler implements IQueryHandler<ReadReportExpiry> {
  constructor(
    private readonly reports: PartyReports,
    private readonly directory: Reports,
  ) {}

  async execute({ renterId, context }: ReadReportExpiry): Promise<string | null> {
    const renter = await this.reports.renter(renterId, context);
    refuseLocked(renter);
    const session = await this.reports.newestSession(renter);
    return session && this.directory.expiryOf(session.sessionId);
  }
}
