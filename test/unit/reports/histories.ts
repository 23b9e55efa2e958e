// Commands and events of reports and shares, for the tests in this folder and the samples of stored events.
import {
  nextAttemptId,
  report,
  type ReportCommand,
  type ReportEvent,
} from '../../../src/modules/reports/domain/report.js';
import type { ShareCommand } from '../../../src/modules/reports/domain/share.js';
import { derivedId } from '../../../src/kernel/ids.js';

export const START = new Date('2026-03-01T12:00:00.000Z');
export const SESSION = '0190a6d0-0000-7000-8000-000000000002';
export const FIRST = nextAttemptId(SESSION, report.initial);
export const SECOND = derivedId('report-pull', SESSION, '2');

/** The time that is `seconds` after the start. */
export function at(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1_000);
}
export const iso = (seconds: number): string => at(seconds).toISOString();

export function request(attemptId = FIRST): ReportCommand {
  return {
    kind: 'request',
    sessionId: SESSION,
    reportId: 'report',
    attemptId,
    purpose: 'TENANT_SCREENING',
    subjectId: 'subject',
    paidBy: null,
    settleAfter: at(22),
    giveUpAfter: at(82),
  };
}

export function requested(attemptId = FIRST): ReportEvent {
  return {
    type: 'ReportRequested',
    data: {
      reportId: 'report',
      attemptId,
      purpose: 'TENANT_SCREENING',
      subjectId: 'subject',
      settleAfter: iso(22),
      giveUpAfter: iso(82),
    },
  };
}

export function release(attemptId = FIRST): ReportCommand {
  return { kind: 'release', now: at(5), attemptId, scored: true, validitySeconds: 2_592_000 };
}

export function consent(now = START, windowSeconds: number | null = null): ShareCommand {
  return {
    kind: 'share',
    now,
    reportId: 'report',
    sessionId: SESSION,
    recipientAccountId: 'recipient',
    purpose: 'TENANT_SCREENING',
    windowSeconds,
  };
}

/** Links the report to one of the account's agents. */
export function link(now = START): ShareCommand {
  return { ...consent(now), recipientPartyId: 'agent' } as ShareCommand;
}
