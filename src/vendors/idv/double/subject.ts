// The vendor's data about a person for later reports. These data are enough to invent a file, but do not identify the person.
import { createHash } from 'node:crypto';
import { type CodeAskedFor, type CodeStep, codeAskedFor } from './codes-asked-for.js';

export interface Subject {
  /** The number of the person's invented file. Thousands of people share one number. */
  readonly file: number;
  /** Null if the person has no SSN: that person has no credit file. */
  readonly score: number | null;
  /** The number with which the vendor answers later; null if the person selected none. */
  readonly code?: CodeAskedFor | null;
  /** In journals of earlier versions: the number with which the credit file answers instead of a report. */
  readonly fileCode?: number | null;
  /** A keyed digest of the SSN. Absent without an SSN, and in journals of earlier versions. */
  readonly ssnDigest?: string;
  /** The freeze or block of the file was removed. */
  readonly lifted?: true;
  /** Absent in journals of earlier versions. */
  readonly userType?: 'CONSUMER' | 'AGENT' | 'PMC';
}

export const FILES = 10_000;
export const MIN_SCORE = 300;
export const MAX_SCORE = 850;

export function subjectOf(
  person: {
    readonly userType: 'CONSUMER' | 'AGENT' | 'PMC';
    readonly firstName?: string;
    readonly middleName?: string;
    readonly lastName?: string;
    readonly dateOfBirth?: string;
    readonly ssn?: string;
  },
  digestOf: (ssn: string) => string,
): Subject {
  const { firstName = '', lastName = '', dateOfBirth = '', ssn = '' } = person;
  const names = [firstName, lastName].map((name) => name.trim().toLowerCase());
  const hash = createHash('sha256').update(JSON.stringify([...names, dateOfBirth, ssn]));
  return {
    userType: person.userType,
    file: hash.digest().readUInt32BE(0) % FILES,
    score: ssn === '' ? null : MIN_SCORE + (Number(ssn) % (MAX_SCORE - MIN_SCORE + 1)),
    code: codeAskedFor(person.middleName),
    ...(ssn !== '' && { ssnDigest: digestOf(ssn) }),
  };
}

/** The vendor's number for every request in this step; null if the step has none. */
export function codeAt(step: CodeStep, { code, fileCode }: Subject): number | null {
  if (code) return code.step === step ? code.code : null;
  return step === 'report' ? (fileCode ?? null) : null;
}
