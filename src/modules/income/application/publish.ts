// The published events of income sessions: one event for each outcome, and one for each round of the person. A failed route that another route follows
// has none (docs/contract/webhooks.md#event-types).
import { fold } from '../../../kernel/decider.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type Publisher } from '../../../published/events.js';
import type { IncomeEvent } from '../domain/income.js';
import { incomeSession } from '../domain/income-session.js';

export const incomePublisher: Publisher = {
  category: incomeSession.category,
  types: new Set<IncomeEvent['type']>(['IncomeReportReleased', 'IncomeSessionFailed', 'UserActionRequested']),

  publish(history, links) {
    const event = history.at(-1);
    const session = fold(incomeSession, history as Iterable<IncomeEvent>);
    if (!event || session.status === 'NONE' || !isPublished(event)) return null;
    const id = idOf(event.stream);
    const about = {
      income_session_id: id,
      route: event.data.route,
      ...(session.screeningSessionId === null ? {} : { screening_session_id: session.screeningSessionId }),
    };
    if (event.type === 'UserActionRequested')
      return publishedAs(event, 'income_report.user_action_required', { ...about, until: event.data.until });
    if (event.type === 'IncomeSessionFailed')
      return publishedAs(event, 'income_report.failed', { ...about, reason_code: event.data.reasonCode });
    return publishedAs(event, 'income_report.completed', {
      ...about,
      ...(links.incomeReportUrl === null ? {} : { report_url: links.incomeReportUrl(id) }),
    });
  },
};

type Told = Extract<IncomeEvent, { type: 'IncomeReportReleased' | 'IncomeSessionFailed' | 'UserActionRequested' }>;

function isPublished(event: RecordedEvent): event is RecordedEvent & Told {
  return incomePublisher.types.has(event.type);
}
