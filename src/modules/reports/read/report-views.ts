import type { Actor } from '../../../kernel/actor.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { Projection } from '../../../kernel/projection.js';
import { reportView, type ReportViewEvent, type ViewedReport } from '../domain/report-view.js';

/** Who looked at a report, when and for what. */
export interface ReportViewDocument extends ViewedReport {
  readonly actor: Actor;
  /** ISO 8601 UTC. */
  readonly viewedAt: string;
}

/** One document a look. Lists: `session:<id>`, oldest first. */
export const reportViews: Projection<ReportViewDocument> = {
  name: 'report_view',
  version: 1,
  category: reportView.category,

  evolve(_doc, event) {
    if (event.type !== ('ReportViewed' satisfies ReportViewEvent['type']))
      throw new Error(`report_view does not know ${event.type}`);
    const { data, metadata } = event as RecordedEvent<ReportViewEvent>;
    return { ...data, actor: metadata.actor, viewedAt: metadata.occurredAt };
  },

  indexes: (doc) => [`session:${doc.sessionId}`],
};
