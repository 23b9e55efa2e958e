// The service's verdict for each number of the bureau (docs/contract/general.md#upstream-codes). An answer with an unlisted number cannot be
// classified.
import type { ReportRefusal, ReportVerdict } from '../../ports/credit-bureau.js';

type CodedVerdict = Extract<ReportVerdict, { kind: 'refused' | 'session-over' | 'unavailable' }>;

/** Facts about the file or its person. */
const REFUSALS: Readonly<Record<number, ReportRefusal>> = {
  10: 'MINOR',
  2010: 'MINOR',
  9110: 'MINOR',
  3014: 'NO_RECORD',
  9193: 'NO_RECORD',
  9116: 'FILE_BLOCKED',
  9132: 'FILE_FROZEN',
};

/** Other facts about the file, and objections to the inquiry. A later call would get the same answer. */
const CONDITIONS: ReadonlySet<number> = new Set([
  18, 1999, 2018, 2503, 2802, 3901, 9006, 9007, 9009, 9014, 9015, 9016, 9018, 9995, 9996, 10_015, 10_019, 10_031,
  10_037, 10_043, 10_045, 10_053, 10_061, 10_067, 10_130, 10_139, 10_173, 10_222, 10_621, 10_631, 10_632, 10_633,
  10_634, 10_639, 10_653, 10_901, 10_936, 10_945, 10_946, 10_047, 10_049, 10_054, 10_055, 10_056, 10_073, 10_092,
  10_216, 10_402, 10_403, 10_404, 10_405, 10_406, 10_407, 10_408, 10_616, 10_627, 10_630,
]);

/** The consumer is not authenticated, or is in another transaction. */
const SESSION_OVER: ReadonlySet<number> = new Set([710, 2500, 2801, 3009, 9010, 9011, 9012]);

/** Faults of the vendor or of the service's account with the vendor. These faults say nothing about the file and can be corrected. */
const FAULTS: ReadonlySet<number> = new Set([
  123, 258, 259, 304, 324, 352, 358, 362, 709, 711, 720, 2000, 2004, 2709, 2711, 7001, 7002, 7004, 9001, 9002, 9003,
  9004, 9005, 9008, 9987, 9997, 9999,
]);

/** Null for an unlisted number. */
export function verdictOfCode(code: number): CodedVerdict | null {
  const reason = REFUSALS[code] ?? (CONDITIONS.has(code) ? 'FILE_CONDITION' : null);
  if (reason !== null) return { kind: 'refused', reason, upstreamCode: code };
  if (SESSION_OVER.has(code)) return { kind: 'session-over' };
  return FAULTS.has(code) ? { kind: 'unavailable' } : null;
}
