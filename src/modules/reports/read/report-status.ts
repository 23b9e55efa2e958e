import { Injectable } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, openCall, openCallsIn, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { Reports } from '../../../published/reports.js';
import { report, type ReportEvent, type ReportState } from '../domain/report.js';

const known = exhaustiveEvents<ReportEvent>('report_status', {
  ReportRequested: true,
  ReportReleased: true,
  ReportPullRefused: true,
  ReportPullFailed: true,
  ReportPullAwaited: true,
  ReportPullsEnded: true,
  ReportPaymentCarriedOver: true,
});

interface Followed {
  readonly environment: Environment;
  readonly report: ReportState;
}

/** The report of a session, by the session's id. */
export interface ReportStatus {
  readonly status: ReportState['status'];
  /** ISO 8601 UTC; null before a report is released. */
  readonly expiresAt: string | null;
  /** The answer of `Reports.isOutOfReach`. */
  readonly outOfReach: boolean;
}

/** The report has an open call while a pull waits for its verdict. */
export const reportStatus: Projection<ReportStatus, Followed> = {
  name: 'report_status',
  version: 8,
  category: report.category,
  toldWithoutLog: true,

  evolve(before, event) {
    const next = report.evolve(before?.report ?? report.initial, known(event));
    const { environment } = event.metadata;
    // The pulls for a payment can be ended before the first pull.
    const isEnd = event.type === 'ReportPullsEnded' || event.type === 'ReportPaymentCarriedOver';
    if (environment === null || (next.status === 'NONE' && !isEnd))
      throw new Error(`${event.stream} does not begin with a request`);
    return { environment, report: next };
  },

  view: ({ report }) => ({
    status: report.status,
    expiresAt: report.status === 'RELEASED' ? report.expiresAt : null,
    outOfReach:
      report.status === 'NOT_TO_BE_HAD' && report.end.kind === 'failed' && report.end.cause === 'VENDOR_SESSION_OVER',
  }),
  entries: ({ environment, report }) =>
    report.status === 'REQUESTED' ? [openCall(environment, report.attempt.settleAfter)] : [],
};

/** Reports, for the other modules and the recovery job. */
@Injectable()
export class ReportDirectory extends Reports {
  constructor(private readonly readModels: ReadModels) {
    super();
  }

  override async expiryOf(sessionId: string): Promise<string | null> {
    return (await this.statusOf(sessionId))?.expiresAt ?? null;
  }

  override async isOutOfReach(sessionId: string): Promise<boolean> {
    return (await this.statusOf(sessionId))?.outOfReach ?? false;
  }

  /** Sessions whose pull got no verdict in time. */
  due(environment: Environment, at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(reportStatus, at, limit, { list: openCallsIn(environment) });
  }

  private async statusOf(sessionId: string): Promise<ReportStatus | undefined> {
    return isId(sessionId) ? (await this.readModels.get(reportStatus, sessionId))?.doc : undefined;
  }
}
