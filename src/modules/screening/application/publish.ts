import { fold } from '../../../kernel/decider.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import {
  type BLOCK_REASONS,
  publishedAs,
  type Links,
  type PublishedEvent,
  type Publisher,
} from '../../../published/events.js';
import { screeningSession } from '../domain/screening-session.js';
import type { SessionEvent } from '../domain/session.js';

const TYPES = [
  'ScreeningCompleted',
  'SessionBlocked',
  'StepUpRequired',
  'ReviewStarted',
  'PersonSentToVendor',
] as const satisfies readonly SessionEvent['type'][];

/** The events of a screening session that are sent to account holders. */
export const screeningPublisher: Publisher = {
  category: screeningSession.category,
  types: new Set(TYPES),

  publish(history: readonly RecordedEvent[], links: Links): PublishedEvent | null {
    const last = history.at(-1);
    const session = fold(screeningSession, history as readonly RecordedEvent<SessionEvent>[]);
    if (!last || session.status === 'NONE') return null;
    const event = last as RecordedEvent & SessionEvent;
    const session_id = last.stream.slice(screeningSession.category.length + 1);
    const user_type = session.userType;
    switch (event.type) {
      case 'ScreeningCompleted': {
        const { transactionId } = event.data;
        return publishedAs(last, 'screening.completed', {
          session_id,
          user_type,
          ...(transactionId !== null && { transaction_id: transactionId }),
          ...(links.reportUrl !== null && user_type === 'CONSUMER' && { report_url: links.reportUrl(session_id) }),
        });
      }
      case 'SessionBlocked':
        return publishedAs(last, 'screening.blocked', {
          session_id,
          user_type,
          // The documents must name each reason.
          reason_code: event.data.reasonCode satisfies (typeof BLOCK_REASONS)[number],
        });
      case 'StepUpRequired':
        return publishedAs(last, 'screening.step_up_required', { session_id, user_type, methods: event.data.methods });
      case 'ReviewStarted': {
        const { reviewUntil: review_until } = event.data;
        return publishedAs(last, 'screening.under_review', { session_id, user_type, review_until });
      }
      case 'PersonSentToVendor':
        return publishedAs(last, 'screening.user_action_required', { session_id, user_type, until: event.data.until });
      default:
        return null;
    }
  },
};
