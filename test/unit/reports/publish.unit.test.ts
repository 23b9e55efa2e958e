// Published events of reports that the bureau refuses (docs/contract/webhooks.md#event-types).
import { expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { reportPublisher } from '../../../src/modules/reports/application/publish.js';
import type { PullRefusal, ReportEvent } from '../../../src/modules/reports/domain/report.js';
import { EVENT_CATALOGUE } from '../../../src/published/events.js';
import { iso, requested, SESSION } from './histories.js';

const LINKS = { reportUrl: null, incomeReportUrl: null };
const REASONS: readonly PullRefusal[] = ['FILE_FROZEN', 'FILE_BLOCKED', 'NO_RECORD', 'MINOR', 'FILE_CONDITION'];

function refused(reason: PullRefusal, attempt: number): readonly ReportEvent[] {
  const attemptId = `attempt-${attempt}`;
  return [
    requested(attemptId),
    { type: 'ReportPullRefused', data: { attemptId, reason, upstreamCode: 9132, refusedAt: iso(attempt) } },
  ];
}

/**
 * The published event of each event in a history. Like the delivery, this function reads only the listed event types.
 */
function published(events: readonly ReportEvent[]): readonly object[] {
  const history: readonly RecordedEvent[] = events.map((event, revision) => ({
    ...event,
    id: `0190a6d0-0000-7000-8000-0000000000${10 + revision}`,
    stream: `report-${SESSION}`,
    revision,
    position: String(revision),
    metadata: {
      schemaVersion: 1,
      accountId: 'account',
      environment: 'test',
      occurredAt: iso(revision),
      $correlationId: 'request',
      $causationId: 'request',
      actor: { kind: 'system', id: 'report-sweep' },
      chain: { alg: 'sha-256', prev: '', hash: '' },
    },
  }));
  return history.flatMap((event, index) => {
    const told = reportPublisher.types.has(event.type)
      ? reportPublisher.publish(history.slice(0, index + 1), LINKS)
      : null;
    return told ? [told] : [];
  });
}

it.each(REASONS)('%s: the published event has only the session and the reason', (reason) => {
  expect(published(refused(reason, 1))).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: 'report.unavailable',
      schema_version: 1,
      occurred_at: iso(1),
      environment: 'test',
      account_id: 'account',
      data: { session_id: SESSION, reason_code: reason },
    },
  ]);
  expect(EVENT_CATALOGUE['report.unavailable'].fields.reason_code.meaning).toContain(`\`${reason}\``);
});

it('a repeated reason is published once, even if another reason came in between', () => {
  const reasons: readonly PullRefusal[] = ['FILE_FROZEN', 'FILE_FROZEN', 'NO_RECORD', 'FILE_FROZEN', 'NO_RECORD'];
  expect(published(reasons.flatMap((reason, attempt) => refused(reason, attempt)))).toMatchObject([
    { data: { reason_code: 'FILE_FROZEN' } },
    { data: { reason_code: 'NO_RECORD' } },
  ]);
});

it('a refusal without a time is not published, and a later one for the same reason is published once', () => {
  const [asked, { data }] = refused('FILE_FROZEN', 0) as [
    ReportEvent,
    Extract<ReportEvent, { type: 'ReportPullRefused' }>,
  ];
  const { refusedAt: _, ...before } = data;
  const old: ReportEvent = { type: 'ReportPullRefused', data: before };
  expect(published([asked, old])).toEqual([]);
  expect(published([asked, old, ...refused('FILE_FROZEN', 1), ...refused('FILE_FROZEN', 2)])).toMatchObject([
    { occurred_at: iso(3), data: { reason_code: 'FILE_FROZEN' } },
  ]);
});

it.each(['VENDOR_SESSION_OVER', 'PERSON_ERASED'] as const)('%s: a final failure is published once', (cause) => {
  const failures = [1, 2].flatMap((attempt): readonly ReportEvent[] => [
    requested(`attempt-${attempt}`),
    { type: 'ReportPullFailed', data: { attemptId: `attempt-${attempt}`, cause, failedAt: iso(attempt) } },
  ]);
  const [asked, untimed] = [
    requested(),
    { type: 'ReportPullFailed', data: { attemptId: 'old', cause } } as ReportEvent,
  ];
  expect(published([asked, untimed, ...refused('NO_RECORD', 0), ...failures])).toMatchObject([
    { data: { reason_code: 'NO_RECORD' } },
    { occurred_at: iso(5), data: { session_id: SESSION, reason_code: cause } },
  ]);
  expect(EVENT_CATALOGUE['report.unavailable'].fields.reason_code.meaning).toContain(`\`${cause}\``);
});

it('a failure because the bureau was unavailable is not published, and neither is a released report', () => {
  const failed: ReportEvent = { type: 'ReportPullFailed', data: { attemptId: 'a', cause: 'VENDOR_UNAVAILABLE' } };
  const released: ReportEvent = {
    type: 'ReportReleased',
    data: { reportId: 'report', attemptId: 'b', generatedAt: iso(5), expiresAt: iso(6), scored: true },
  };
  expect(published([requested('a'), failed, requested('b'), released])).toEqual([]);
});
