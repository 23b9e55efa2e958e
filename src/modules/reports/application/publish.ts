import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { report, type ReportEvent } from '../domain/report.js';
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

const UNAVAILABLE = 'ReportPullRefused' satisfies ReportEvent['type'];

/**
 * What account holders hear of reports that the bureau refuses: each reason of a session once. A refusal without its time was stored before
 * this was told: it is old news, and takes no reason away.
 */
export const reportPublisher: Publisher = {
  category: report.category,
  types: new Set([UNAVAILABLE]),

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const refusals = (
      history.filter(({ type }) => type === UNAVAILABLE) as (RecordedEvent &
        Extract<ReportEvent, { type: typeof UNAVAILABLE }>)[]
    ).filter(({ data }) => data.refusedAt !== undefined);
    const last = refusals.at(-1);
    if (!last || last !== history.at(-1)) return null;
    const { reason } = last.data;
    return refusals.findIndex(({ data }) => data.reason === reason) < refusals.length - 1
      ? null
      : publishedAs(last, 'report.unavailable', { session_id: idOf(last.stream), reason_code: reason });
  },
};
