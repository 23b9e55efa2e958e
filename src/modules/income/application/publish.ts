// The published events of income sessions: one event for each outcome, and none for a failed route that another route follows
// (docs/contract/webhooks.md#event-types).
import { fold } from '../../../kernel/decider.js';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type Publisher } from '../../../published/events.js';
import type { IncomeEvent } from '../domain/income.js';
import { incomeSession } from '../domain/income-session.js';

export const incomePublisher: Publisher = {
  category: incomeSession.category,
  types: new Set<IncomeEvent['type']>(['IncomeReportReleased', 'IncomeSessionFailed']),

  publish(history, links) {
    const event = history.at(-1);
    const session = fold(incomeSession, history as Iterable<IncomeEvent>);
    if (!event || session.status === 'NONE' || !isOutcome(event)) return null;
    const id = idOf(event.stream);
    const about = {
      income_session_id: id,
      route: event.data.route,
      ...(session.screeningSessionId === null ? {} : { screening_session_id: session.screeningSessionId }),
    };
    if (event.type === 'IncomeSessionFailed')
      return publishedAs(event, 'income_report.failed', { ...about, reason_code: event.data.reasonCode });
    return publishedAs(event, 'income_report.completed', {
      ...about,
      ...(links.incomeReportUrl === null ? {} : { report_url: links.incomeReportUrl(id) }),
    });
  },
};

type Outcome = Extract<IncomeEvent, { type: 'IncomeReportReleased' | 'IncomeSessionFailed' }>;

function isOutcome(event: RecordedEvent): event is RecordedEvent & Outcome {
  return incomePublisher.types.has(event.type);
}
