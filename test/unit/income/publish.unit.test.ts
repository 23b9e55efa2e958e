// The events of income sessions that account holders receive (docs/contract/webhooks.md#event-types).
import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { incomePublisher } from '../../../src/modules/income/application/publish.js';
import type { IncomeEvent } from '../../../src/modules/income/domain/income.js';
import { EVENT_CATALOGUE, type Links, type PublishedEvent } from '../../../src/published/events.js';
import {
  AWAITED,
  ERASED,
  EXPIRED,
  FAILED,
  iso,
  OPENED,
  RELEASED,
  REQUESTED,
  SESSION_FAILED,
  STARTED,
  USER_REQUESTED,
} from './histories.js';

const ID = '0190a6d0-0000-7000-8000-0000000000aa';
const PRIVATE: Links = { reportUrl: null, incomeReportUrl: null };
const PUBLIC: Links = {
  reportUrl: null,
  incomeReportUrl: (id) => `https://api.example.test/v1/income-sessions/${id}/report`,
};

function recorded(events: readonly IncomeEvent[]): RecordedEvent[] {
  return events.map((event, revision) => ({
    ...event,
    id: `0190a6d0-0000-7000-8000-00000000000${revision}`,
    stream: `income-${ID}`,
    revision,
    position: String(revision),
    metadata: {
      schemaVersion: 1,
      accountId: 'account',
      environment: 'test',
      occurredAt: iso(revision),
      $correlationId: 'request',
      $causationId: 'request',
      actor: { kind: 'system', id: 'income-sweep' },
      chain: { alg: 'sha-256', prev: '', hash: '' },
    },
  }));
}

/** The published events of a history. Like the delivery, this function reads only the listed event types. */
function published(events: readonly IncomeEvent[], links = PRIVATE): PublishedEvent[] {
  const history = recorded(events);
  return history.flatMap((event, index) => {
    const translated = incomePublisher.types.has(event.type)
      ? incomePublisher.publish(history.slice(0, index + 1), links)
      : null;
    return translated ? [translated] : [];
  });
}

const PAYROLL_ONLY = [
  OPENED(),
  REQUESTED('PAYROLL', 'first'),
  STARTED('PAYROLL', 'first'),
  AWAITED('PAYROLL', 'first', 3),
];
const FALLEN_BACK = [
  ...PAYROLL_ONLY,
  FAILED('PAYROLL', 'first'),
  REQUESTED('BANKING', 'second'),
  STARTED('BANKING', 'second'),
];
const linked = (events: readonly IncomeEvent[]): readonly IncomeEvent[] => [
  OPENED(['PAYROLL', 'BANKING'], 'screening'),
  ...events.slice(1),
];

describe('published events of income sessions', () => {
  it('a report on the first route publishes income_report.completed', () => {
    const [event, ...others] = published([...PAYROLL_ONLY, RELEASED('PAYROLL', 'first', 4)]);
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      type: 'income_report.completed',
      schema_version: 1,
      occurred_at: iso(4),
      environment: 'test',
      account_id: 'account',
      data: { income_session_id: ID, route: 'PAYROLL' },
    });
  });

  it('a report after a fallback publishes one event, with the route that decided', () => {
    expect(published([...FALLEN_BACK, RELEASED('BANKING', 'second', 7)]).map(({ type, data }) => [type, data])).toEqual(
      [['income_report.completed', { income_session_id: ID, route: 'BANKING' }]],
    );
  });

  it('a failure of the last route publishes one income_report.failed with the last reason', () => {
    const failed = [
      ...FALLEN_BACK,
      FAILED('BANKING', 'second', 'VENDOR_ERROR'),
      SESSION_FAILED('BANKING', 'VENDOR_ERROR'),
    ];
    expect(published(failed).map(({ type, data }) => [type, data])).toEqual([
      ['income_report.failed', { income_session_id: ID, route: 'BANKING', reason_code: 'VENDOR_ERROR' }],
    ]);
    expect(published(linked(failed), PUBLIC)[0]?.data).toEqual({
      income_session_id: ID,
      route: 'BANKING',
      screening_session_id: 'screening',
      reason_code: 'VENDOR_ERROR',
    });
  });

  it('each round of the person publishes income_report.user_action_required with its end', () => {
    const rounds = [USER_REQUESTED('PAYROLL', 'first', 5), USER_REQUESTED('PAYROLL', 'first', 70, 1_800)];
    const events = published(linked([...PAYROLL_ONLY, ...rounds]), PUBLIC);
    expect(events.map(({ type, data }) => [type, data])).toEqual(
      [900, 1_800].map((until) => [
        'income_report.user_action_required',
        { income_session_id: ID, route: 'PAYROLL', screening_session_id: 'screening', until: iso(until) },
      ]),
    );
    expect(Object.keys(events[0]?.data ?? {}).sort()).toEqual(
      Object.keys(EVENT_CATALOGUE['income_report.user_action_required'].fields).sort(),
    );
  });

  it('have exactly the fields of the catalogue when all values are known', () => {
    const [completed] = published(linked([...PAYROLL_ONLY, RELEASED('PAYROLL', 'first', 4)]), PUBLIC);
    expect(completed?.data).toEqual({
      income_session_id: ID,
      route: 'PAYROLL',
      screening_session_id: 'screening',
      report_url: `https://api.example.test/v1/income-sessions/${ID}/report`,
    });
    expect(Object.keys(completed?.data ?? {}).sort()).toEqual(
      Object.keys(EVENT_CATALOGUE['income_report.completed'].fields).sort(),
    );
    const [failed] = published(
      linked([...PAYROLL_ONLY, FAILED('PAYROLL', 'first'), SESSION_FAILED('PAYROLL', 'NO_MATCH')]),
    );
    expect(Object.keys(failed?.data ?? {}).sort()).toEqual(
      Object.keys(EVENT_CATALOGUE['income_report.failed'].fields).sort(),
    );
  });

  it('are not made when a session continues or has expired', () => {
    expect(published(FALLEN_BACK)).toEqual([]);
    expect(published([...FALLEN_BACK, EXPIRED()])).toEqual([]);
    const history = recorded(FALLEN_BACK);
    expect(history.map((_, index) => incomePublisher.publish(history.slice(0, index + 1), PUBLIC))).toEqual(
      history.map(() => null),
    );
  });

  it('are not made by an erasure, and earlier events stay', () => {
    const history = [...PAYROLL_ONLY, RELEASED('PAYROLL', 'first', 4)];
    expect(published([...history, ERASED])).toEqual(published(history));
    expect(published([...PAYROLL_ONLY, ERASED, EXPIRED('PERSON_ERASED')])).toEqual([]);
  });

  it('have the same id when the stored events are translated again', () => {
    const history = [...PAYROLL_ONLY, RELEASED('PAYROLL', 'first', 4)];
    expect(published(history)).toEqual(published(history));
    expect(incomePublisher.category).toBe('income');
  });
});
