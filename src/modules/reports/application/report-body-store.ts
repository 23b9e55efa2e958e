import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import type { CreditScore, TradeLine, VendorReport } from '../../../ports/credit-bureau.js';
import { Vault } from '../../../ports/vault.js';
import { keepEntry, parsedEntry, readEntry, unlessErased } from '../../../ports/vault-entry.js';
import { report, type ReportEvent } from '../domain/report.js';

export type { CreditScore, TradeLine, VendorReport };

/** The bureau's data, as the vault stores it: encrypted, under the person's subject, and in no other place. */
export interface ReportBody {
  /** Null for a file that is too thin for a score. */
  readonly score: CreditScore | null;
  readonly report: VendorReport;
  /** The bureau's whole answer as JSON text. Stored only for sessions of a party of the direct API. */
  readonly text?: string | undefined;
}

/** A stored body. It is parsed only when a field is read, because callers that pass on the JSON need no fields. */
export class KeptBody implements ReportBody {
  private body: ReportBody | null = null;

  constructor(private readonly kept: Uint8Array) {}

  get score(): ReportBody['score'] {
    return this.parsed().score;
  }

  get report(): ReportBody['report'] {
    return this.parsed().report;
  }

  get text(): string | undefined {
    return this.parsed().text;
  }

  /** JSON text of an object of score and report; null when the body holds more. */
  get json(): Uint8Array | null {
    return Buffer.from(this.kept.buffer, this.kept.byteOffset, this.kept.byteLength).includes('"text":')
      ? null
      : this.kept;
  }

  private parsed(): ReportBody {
    return (this.body ??= parsedEntry(this.kept) as ReportBody);
  }
}

/** The body of a released report stays until its person is erased. */
export const REPORT_BODIES: readonly VaultPromise[] = [
  {
    category: report.category,
    type: 'ReportReleased' satisfies ReportEvent['type'],
    place: (event, first) => {
      const released = event as RecordedEvent & Extract<ReportEvent, { type: 'ReportReleased' }>;
      const requested = first as RecordedEvent & Extract<ReportEvent, { type: 'ReportRequested' }>;
      return { subject: requested.data.subjectId, entry: entryOf(released.data.reportId) };
    },
    until: [],
  },
];

interface Place {
  readonly subjectId: string;
  readonly reportId: string;
}

/** The bureau's answer when it gave no report. */
interface Refusal {
  readonly attemptId: string;
  readonly reply: VendorReply;
}

/** The vault, for reports. */
@Injectable()
export class ReportBodyStore {
  constructor(private readonly vault: Vault) {}

  /** False when the person was erased while the bureau was being asked. */
  async keep({ subjectId, reportId }: Place, body: ReportBody): Promise<boolean> {
    return (await keepEntry(this.vault, subjectId, entryOf(reportId), body)) === 'kept';
  }

  /** The body of a released report; null after the person was erased. */
  async of({ subjectId, reportId }: Place): Promise<KeptBody | null> {
    const kept = await unlessErased(this.vault.get(subjectId, entryOf(reportId)));
    if (kept === null) throw new Error(`Report ${reportId} was released but is not in the vault`);
    return kept === 'erased' ? null : new KeptBody(kept);
  }

  /** Replaces the stored refusal of a report. Stores nothing for an erased person. */
  async keepRefusal({ subjectId, reportId }: Place, refusal: Refusal): Promise<void> {
    await keepEntry(this.vault, subjectId, refusalEntryOf(reportId), refusal);
  }

  /** Null when the bureau gave no answer to that attempt, when a later attempt replaced it, or when the person was erased. */
  async refusal({ subjectId, reportId }: Place, attemptId: string): Promise<VendorReply | null> {
    const refusal = await readEntry<Refusal>(this.vault, subjectId, refusalEntryOf(reportId));
    return refusal !== null && refusal !== 'erased' && refusal.attemptId === attemptId ? refusal.reply : null;
  }
}

function refusalEntryOf(reportId: string): string {
  return `report-refusal:${reportId}`;
}

function entryOf(reportId: string): string {
  return `report:${reportId}`;
}
