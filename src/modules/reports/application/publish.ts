import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { share, type ShareEvent } from '../domain/share.js';

const TYPES = ['ReportShared', 'SharingRevoked'] as const satisfies readonly ShareEvent['type'][];

/** What account holders hear of shares. */
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
