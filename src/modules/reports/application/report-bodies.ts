// Bodies of reports in the vault, and their digests, by which a changed body can be found.
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { VaultPromise } from '../../../kernel/vault-promise.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import type { CreditScore, TradeLine, VendorReport } from '../../../ports/credit-bureau.js';
import { digestLike, keepWithDigest, saltEntry } from '../../../ports/salted-digest.js';
import type { Vault } from '../../../ports/vault.js';
import { keepEntry, parsedEntry, readEntry, unlessErased } from '../../../ports/vault-entry.js';
import { report, type ReportEvent } from '../domain/report.js';

export type { CreditScore, TradeLine, VendorReport };

/** The bureau's data. Only the vault stores these data, encrypted, under the person's subject. */
export interface ReportBody {
  /** Null if the file is too thin for a score. */
  readonly score: CreditScore | null;
  readonly report: VendorReport;
  /** The bureau's whole answer as JSON text. The text is stored only for sessions of a party of the direct API. */
  readonly text?: string | undefined;
}

/** A body in the vault. */
export interface StoredBody extends ReportBody {
  /** The JSON text of an object with score and report; null if the body has more fields. */
  readonly json: Uint8Array | null;
}

/** The body is parsed only when a field is read, because callers that pass on the JSON text need no fields. */
function storedBody(kept: Uint8Array): StoredBody {
  let body: ReportBody | null = null;
  const parsed = (): ReportBody => (body ??= parsedEntry(kept) as ReportBody);
  const hasText = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).includes('"text":');
  return {
    json: hasText ? null : kept,
    get score() {
      return parsed().score;
    },
    get report() {
      return parsed().report;
    },
    get text() {
      return parsed().text;
    },
  };
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
  {
    category: report.category,
    type: 'ReportReleased' satisfies ReportEvent['type'],
    place: (event, first) => {
      const { reportId, bodyDigest } = (event as RecordedEvent & Extract<ReportEvent, { type: 'ReportReleased' }>).data;
      const requested = first as RecordedEvent & Extract<ReportEvent, { type: 'ReportRequested' }>;
      if (bodyDigest === undefined) return null;
      return { subject: requested.data.subjectId, entry: saltEntry(entryOf(reportId), bodyDigest) };
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

/** The salted digest of the body, or `erased` if the person was erased during the request to the bureau. */
export function keepBody(vault: Vault, { subjectId, reportId }: Place, body: ReportBody): Promise<string> {
  return keepWithDigest(vault, subjectId, entryOf(reportId), body);
}

/** The digest of a reply that shows the report, with the salt of the body. Null for a report of an older release. */
export function shownDigest(
  vault: Vault,
  { subjectId, reportId, bodyDigest }: Place & { readonly bodyDigest?: string },
  shown: Uint8Array | string,
): Promise<string | null> {
  return digestLike(vault, { subject: subjectId, entry: entryOf(reportId), digest: bodyDigest }, shown);
}

/** The body of a released report; null if the person was erased. */
export async function bodyOf(vault: Vault, { subjectId, reportId }: Place): Promise<StoredBody | null> {
  const kept = await unlessErased(vault.get(subjectId, entryOf(reportId)));
  if (kept === null) throw new Error(`Report ${reportId} was released but is not in the vault`);
  return kept === 'erased' ? null : storedBody(kept);
}

/** Replaces the stored refusal of a report. Stores nothing for an erased person. */
export async function keepRefusal(vault: Vault, { subjectId, reportId }: Place, refusal: Refusal): Promise<void> {
  await keepEntry(vault, subjectId, refusalEntryOf(reportId), refusal);
}

/** Null if the bureau gave no answer to that attempt, when a later attempt replaced the answer, or if the person was erased. */
export async function replyWithoutReport(
  vault: Vault,
  { subjectId, reportId }: Place,
  attemptId: string,
): Promise<VendorReply | null> {
  const refusal = await readEntry<Refusal>(vault, subjectId, refusalEntryOf(reportId));
  return refusal !== null && refusal !== 'erased' && refusal.attemptId === attemptId ? refusal.reply : null;
}

function refusalEntryOf(reportId: string): string {
  return `report-refusal:${reportId}`;
}

function entryOf(reportId: string): string {
  return `report:${reportId}`;
}
