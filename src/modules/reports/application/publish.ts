import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type EventData, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { report, type FinalFailure, type ReportEvent } from '../domain/report.js';
import { share, type ShareEvent } from '../domain/share.js';

const TYPES = ['ReportShared', 'SharingRevoked'] as const satisfies readonly ShareEvent['type'][];

/** The published events of shares, for account holders. */
export const sharePublisher: Publisher = {
  category: share.category,
  types: new Set(TYPES),
  alone: true,

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const last = history.at(-1);
    if (!last) return null;
    const event = last as RecordedEvent & ShareEvent;
    switch (event.type) {
      case 'ReportShared': {
        const { reportId, sessionId, recipientAccountId, sharedAt } = event.data;
        return publishedAs(last, 'report.shared', {
          report_id: reportId,
          session_id: sessionId,
          recipient_account_id: recipientAccountId,
          shared_at: sharedAt,
        });
      }
      case 'SharingRevoked': {
        const { reportId, sessionId, recipientAccountId, revokedAt } = event.data;
        return publishedAs(last, 'report.revoked', {
          report_id: reportId,
          session_id: sessionId,
          recipient_account_id: recipientAccountId,
          revoked_at: revokedAt,
        });
      }
      default:
        return null;
    }
  },
};

/**
 * The reason to publish for an event that ends a pull without a report. Events without a time are older than this rule. Such events are not
 * published, and the same reason may be published later.
 */
function reasonIn(event: ReportEvent): EventData['report.unavailable']['reason_code'] | null {
  if (event.type === 'ReportPullRefused') return event.data.refusedAt === undefined ? null : event.data.reason;
  if (event.type !== 'ReportPullFailed' || event.data.failedAt === undefined) return null;
  return event.data.cause as FinalFailure;
}

/** The published events of reports that the bureau refuses or that can no longer be requested. Each reason of a session is published once. */
export const reportPublisher: Publisher = {
  category: report.category,
  types: new Set(['ReportPullRefused', 'ReportPullFailed'] satisfies ReportEvent['type'][]),

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const last = history.at(-1);
    const reasons = (history as readonly (RecordedEvent & ReportEvent)[]).map(reasonIn);
    const reason = reasons.pop() ?? null;
    return last === undefined || reason === null || reasons.includes(reason)
      ? null
      : publishedAs(last, 'report.unavailable', { session_id: idOf(last.stream), reason_code: reason });
  },
};
