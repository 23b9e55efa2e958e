// The service's verdict for each number of the vendor (docs/contract/general.md#upstream-codes). An answer with an unlisted number cannot be
// classified.
import type { RegistrationVerdict } from '../../ports/identity-vendor.js';

export type CodedVerdict = Exclude<
  RegistrationVerdict,
  { kind: 'confirmed' | 'step-up' | 'under-review' | 'needs-user' | 'timed-out' | 'unintelligible' }
>;

const unavailable: CodedVerdict = { kind: 'unavailable' };
const notFound: CodedVerdict = { kind: 'refused', reason: 'IDENTITY_NOT_FOUND' };
const address: CodedVerdict = { kind: 'input-refused', input: 'address' };
const lastName: CodedVerdict = { kind: 'input-refused', input: 'last-name' };
const sessionOver: CodedVerdict = { kind: 'session-over' };
const productNotEnabled: CodedVerdict = { kind: 'product-not-enabled' };

/** The verification service's own numbers. */
const IDENTITY_CODES: Readonly<Record<number, CodedVerdict>> = {
  10: { kind: 'refused', reason: 'MINOR_CONSUMER' },
  13: { kind: 'input-refused', input: 'format' },
  18: { kind: 'refused', reason: 'FRAUD_REPORTED' },
  45: lastName,
  49: { kind: 'input-refused', input: 'zip' },
  92: { kind: 'input-refused', input: 'more-identification' },
  106: lastName,
  123: unavailable,
  258: unavailable,
  259: unavailable,
  304: unavailable,
  313: notFound,
  323: notFound,
  324: unavailable,
  352: unavailable,
  358: unavailable,
  362: unavailable,
  403: { kind: 'input-refused', input: 'ssn-missing' },
  404: { kind: 'input-refused', input: 'generation-code-missing' },
  405: { kind: 'input-refused', input: 'date-of-birth' },
  406: { kind: 'input-refused', input: 'middle-name-missing' },
  407: address,
  627: address,
  633: address,
  708: { kind: 'input-refused', input: 'unspecified' },
  709: unavailable,
  710: sessionOver,
  711: productNotEnabled,
  720: unavailable,
};

/** Errors that exist only as numbers of four digits. */
const CONDITION_CODES: Readonly<Record<number, CodedVerdict>> = {
  1999: { kind: 'refused', reason: 'ALERT_LIST_MATCH' },
  2004: productNotEnabled,
  2501: { kind: 'locked', unblockAt: null },
  2502: notFound,
  2503: { kind: 'refused', reason: 'SANCTIONS_MATCH' },
  2801: sessionOver,
  2802: { kind: 'report-expired' },
  3001: unavailable,
  3002: sessionOver,
  3008: notFound,
  3009: sessionOver,
  3011: unavailable,
  3012: unavailable,
  3014: notFound,
  3015: notFound,
  3901: { kind: 'refused', reason: 'DECEASED' },
  7001: unavailable,
  7002: unavailable,
  7004: unavailable,
};

/** As the reply to an answer, these numbers mean that the answer was wrong. As the reply to a registration, they mean that no person was found. */
export const WRONG_ANSWER_CODES: ReadonlySet<number> = new Set([2502, 3008, 3015]);

/** Older interfaces of the vendor send 2000 plus the last three digits. 2000, 2001 and 2500 stand for groups. */
const OLDER_NUMBERS: Readonly<Record<number, number>> = {
  2000: 258,
  2001: 323,
  2002: 708,
  2010: 10,
  2013: 13,
  2018: 18,
  2045: 45,
  2049: 49,
  2092: 92,
  2403: 403,
  2404: 404,
  2405: 405,
  2406: 406,
  2407: 407,
  2500: 710,
  2627: 627,
  2633: 633,
  2709: 709,
  2711: 711,
};

/** Null for an unlisted number. */
export function verdictOfCode(code: number): CodedVerdict | null {
  const number = OLDER_NUMBERS[code] ?? code;
  return IDENTITY_CODES[number] ?? CONDITION_CODES[number] ?? null;
}
