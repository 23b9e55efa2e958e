import type { Actor } from '../../../kernel/actor.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { listOf, type Projection } from '../../../kernel/projection.js';
import { reportView, type ReportViewEvent, type ViewedReport } from '../domain/report-view.js';

/** One view of a report: viewer, time and purpose. */
export interface ReportViewDocument extends ViewedReport {
  readonly actor: Actor;
  /** ISO 8601 UTC. */
  readonly viewedAt: string;
}

/** The list of the views of a session's report. */
export const viewsOfSession = (session: string): string => listOf({ session });

/**
 * One document for each view that an earlier release recorded in a stream of its own, so that the list finds the view. A session's stream contains
 * its later views.
 */
export const reportViews: Projection<ReportViewDocument> = {
  name: 'report_view',
  version: 4,
  category: reportView.category,

  evolve(_doc, event) {
    if (event.type !== ('ReportViewed' satisfies ReportViewEvent['type']))
      throw new Error(`report_view does not know ${event.type}`);
    const { data, metadata } = event as RecordedEvent<ReportViewEvent>;
    return { ...data, actor: metadata.actor, viewedAt: metadata.occurredAt };
  },

  view: (doc) => doc,
  entries: ({ sessionId }) => [{ list: viewsOfSession(sessionId) }],
};
