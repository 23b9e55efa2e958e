import { Injectable } from '@nestjs/common';
import { isId } from '../../../kernel/ids.js';
import { exhaustiveEvents, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import { Reports } from '../../../published/reports.js';
import { dueAt, report, type ReportEvent, type ReportState } from '../domain/report.js';

const known = exhaustiveEvents<ReportEvent>('report_status', {
  ReportRequested: true,
  ReportReleased: true,
  ReportPullRefused: true,
  ReportPullFailed: true,
  ReportPullAwaited: true,
});

type Report = Exclude<ReportState, { status: 'NONE' }>;

/** The report of a session, by the session's id. */
export interface ReportStatus {
  readonly status: Report['status'];
  /** ISO 8601 UTC; null while no report was released. */
  readonly expiresAt: string | null;
}

/** Due while a pull awaits its verdict. */
export const reportStatus: Projection<ReportStatus, Report> = {
  name: 'report_status',
  version: 3,
  category: report.category,

  evolve(before, event) {
    const next = report.evolve(before ?? report.initial, known(event));
    if (next.status === 'NONE') throw new Error(`${event.stream} does not begin with a request`);
    return next;
  },

  view: (state) => ({ status: state.status, expiresAt: state.status === 'RELEASED' ? state.expiresAt : null }),
  dueAt,
};

/** Reports as the other modules and the sweep see them. */
@Injectable()
export class ReportDirectory extends Reports {
  constructor(private readonly readModels: ReadModels) {
    super();
  }

  override async expiryOf(sessionId: string): Promise<string | null> {
    const view = isId(sessionId) ? await this.readModels.get(reportStatus, sessionId) : null;
    return view?.doc.expiresAt ?? null;
  }

  /** Sessions whose pull nobody recorded a verdict of. */
  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(reportStatus, at, limit);
  }
}
