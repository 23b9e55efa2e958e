import { Injectable } from '@nestjs/common';
import { idOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import { keepWithDigest, saltEntry } from '../../../ports/salted-digest.js';
import { Vault } from '../../../ports/vault.js';
import { isErased, keepEntry, readEntry } from '../../../ports/vault-entry.js';
import type { IncomeReport } from '../../../ports/income-vendor.js';
import {
  inquiryEntry,
  reportEntry,
  type IncomeEvent,
  type IncomeSession,
  type InquiryContent,
} from '../domain/income.js';
import { incomeSession, isOpen } from '../domain/income-session.js';

/** The vault keeps an inquiry while its session is open, and the report of a completed session. */
export const INCOME_SECRETS: readonly VaultPromise[] = [
  {
    category: incomeSession.category,
    type: 'RouteStarted' satisfies IncomeEvent['type'],
    place: ({ stream }, first) => ({ subject: subjectIn(first), entry: inquiryEntry(idOf(stream)) }),
    until: ['IncomeReportReleased', 'IncomeSessionFailed', 'IncomeSessionExpired'] satisfies IncomeEvent['type'][],
  },
  {
    category: incomeSession.category,
    type: 'IncomeReportReleased' satisfies IncomeEvent['type'],
    place: ({ stream }, first) => ({ subject: subjectIn(first), entry: reportEntry(idOf(stream)) }),
    until: [],
  },
  {
    category: incomeSession.category,
    type: 'IncomeReportReleased' satisfies IncomeEvent['type'],
    place: (event, first) => {
      const { bodyDigest } = (event as RecordedEvent & Extract<IncomeEvent, { type: 'IncomeReportReleased' }>).data;
      if (bodyDigest === undefined) return null;
      return { subject: subjectIn(first), entry: saltEntry(reportEntry(idOf(event.stream)), bodyDigest) };
    },
    until: [],
  },
];

function subjectIn(first: RecordedEvent): string {
  return (first as RecordedEvent & Extract<IncomeEvent, { type: 'IncomeSessionOpened' }>).data.subjectId;
}

/** The vault for income sessions. `erased`: the person's data key was destroyed. */
@Injectable()
export class IncomeSecrets {
  constructor(private readonly vault: Vault) {}

  isErased(subjectId: string): Promise<boolean> {
    return isErased(this.vault, subjectId);
  }

  keepInquiry(subjectId: string, incomeSessionId: string, content: InquiryContent): Promise<'kept' | 'erased'> {
    return keepEntry(this.vault, subjectId, inquiryEntry(incomeSessionId), content);
  }

  /** Returns the salted digest of the report, or `erased`. */
  keepReport(subjectId: string, incomeSessionId: string, report: IncomeReport): Promise<string> {
    return keepWithDigest(this.vault, subjectId, reportEntry(incomeSessionId), report);
  }

  /** Null if none was stored. */
  inquiry(subjectId: string, incomeSessionId: string): Promise<InquiryContent | null | 'erased'> {
    return readEntry(this.vault, subjectId, inquiryEntry(incomeSessionId));
  }

  /** Null if none was stored. */
  report(subjectId: string, incomeSessionId: string): Promise<IncomeReport | null | 'erased'> {
    return readEntry(this.vault, subjectId, reportEntry(incomeSessionId));
  }

  /** Removes the values that an ended session no longer needs. The report of a completed session stays. */
  async keepLess(incomeSessionId: string, session: IncomeSession): Promise<void> {
    if (isOpen(session)) return;
    await this.vault.remove(session.subjectId, inquiryEntry(incomeSessionId));
    if (session.status !== 'COMPLETED') await this.vault.remove(session.subjectId, reportEntry(incomeSessionId));
  }
}
