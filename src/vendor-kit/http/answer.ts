// A vendor's complete answer, and the table with which a vendor folder makes a verdict of an answer that is not a success.
import type { NoVerdict } from '../../ports/vendor-call.js';

export interface VendorAnswer {
  readonly status: number;
  /** The parsed JSON, and the text byte for byte. Both are null if the answer is not JSON. */
  readonly body: unknown;
  readonly text: string | null;
  /** By lowercase names. The values of a repeated header are joined. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The pause of `Retry-After`, which is in seconds or a date. Whole seconds from 1 to 600. */
  readonly retryAfterSeconds?: number;
  /** The place of `Location` as the path of a further request. Absent if the place is not below the vendor's own address. */
  readonly location?: string;
}

/** Makes a verdict of any complete answer. Never throws. */
export type Reader<Verdict> = (answer: VendorAnswer) => Verdict | NoVerdict;

/** Reads the verdict of one operation from its answer, or from the vendor's record of an earlier request. Null if the record is of another operation. */
export interface Reading<Verdict, Past> {
  readonly fromAnswer: Reader<Verdict>;
  readonly fromPast: (past: Past) => Verdict | null;
}

export function answerOf(status: number, text: string): VendorAnswer {
  try {
    return { status, body: JSON.parse(text) as unknown, text };
  } catch {
    // An answer that is not JSON is complete too. The code that reads such an answer calls it unintelligible.
    return { status, body: null, text: null };
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parts of a vendor's dialect that the client itself has to understand. */
export interface Dialect {
  /** The vendor's own word or number for an error; null if the answer has none. A 502 or 504 without one comes from a gateway. */
  readonly codeOf?: (answer: VendorAnswer) => string | number | null;
  /** Whether the vendor refused the credential and executed nothing. The default is every 401. */
  readonly credentialRefused?: (answer: VendorAnswer) => boolean;
}

/**
 * The verdicts of a vendor's errors. The first rule that fits counts: `reader`, `codes`, `statuses`. Otherwise 401, 403, 429 and 503 are `unavailable`
 * and all others are `unintelligible`.
 */
export interface ErrorTable<Verdict> extends Dialect {
  /** For errors that neither a code nor a status identifies. Null leaves the answer to the tables. */
  readonly reader?: (answer: VendorAnswer) => Verdict | NoVerdict | null;
  /** By what `codeOf` returns. */
  readonly codes?: Readonly<Record<string | number, Verdict | NoVerdict>>;
  /** By the HTTP status. */
  readonly statuses?: Readonly<Record<number, Verdict | NoVerdict>>;
}

/**
 * A reader that gives answers with a 2xx status to `success`, and the others to the table. A success that is not JSON is unintelligible, except a 204.
 * `success` returns null for an answer that it cannot read.
 */
export function readerOf<Verdict>(
  table: ErrorTable<Verdict>,
  success: (answer: VendorAnswer) => Verdict | NoVerdict | null,
): Reader<Verdict> {
  return (answer) => {
    const { status, text } = answer;
    if (status > 299) return errorVerdict(table, answer);
    return ((text !== null || status === 204) && success(answer)) || { kind: 'unintelligible' };
  };
}

/**
 * A reader that refuses an answer about another object than the request named, because the answer could be about another person. `idIn`: the id in an
 * answer; null for an answer that repeats none, such as an error.
 */
export function readerAbout<Verdict>(
  id: string,
  idIn: (answer: VendorAnswer) => string | null,
  reader: Reader<Verdict>,
): Reader<Verdict> {
  return (answer) => ((idIn(answer) ?? id) === id ? reader(answer) : { kind: 'unintelligible' });
}

function errorVerdict<Verdict>(table: ErrorTable<Verdict>, answer: VendorAnswer): Verdict | NoVerdict {
  const code = table.codeOf?.(answer) ?? null;
  const byCode = code !== null && table.codes && Object.hasOwn(table.codes, code) ? table.codes[code] : undefined;
  return (
    table.reader?.(answer) ??
    byCode ??
    table.statuses?.[answer.status] ?? { kind: isTurnedAway(answer.status) ? 'unavailable' : 'unintelligible' }
  );
}

/** Whether the vendor rejected the call without executing it: the credential was refused, the rate was limited or the vendor was down. */
export function isTurnedAway(status: number): boolean {
  return status === 401 || status === 403 || status === 429 || status === 503;
}

/** The pause that a busy vendor demands before any other call. */
export function pauseOf({ status, retryAfterSeconds }: VendorAnswer): number | undefined {
  return status === 429 || status === 503 ? retryAfterSeconds : undefined;
}
