// What the vendor keeps of a person for reports to come: enough to make up a file, too little to find the person.
import { createHash } from 'node:crypto';
import { FIRST_FILE_CODE } from './upstream-codes.js';

export interface Subject {
  /** Which of the made-up files is this person's. Thousands of people share one. */
  readonly file: number;
  /** Null without an SSN: such a person has no credit file. */
  readonly score: number | null;
  /** The number with which the credit file answers instead of a report. */
  readonly fileCode: number | null;
  /** Absent in journals of earlier versions. */
  readonly userType?: 'CONSUMER' | 'AGENT' | 'PMC';
}

export const FILES = 10_000;
export const MIN_SCORE = 300;
export const MAX_SCORE = 850;

const UPSTREAM_CODE = /^upstream(\d{1,5})$/i;

/** The code that a middle name asks for, null when it is an ordinary one. */
export function codeAskedFor(middleName: string | undefined): number | null {
  const digits = UPSTREAM_CODE.exec(middleName?.trim() ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

export function subjectOf(person: {
  readonly userType: 'CONSUMER' | 'AGENT' | 'PMC';
  readonly firstName: string;
  readonly middleName?: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
  readonly ssn?: string;
}): Subject {
  const { ssn } = person;
  const names = [person.firstName, person.lastName].map((name) => name.trim().toLowerCase());
  const hash = createHash('sha256').update(JSON.stringify([...names, person.dateOfBirth, ssn ?? '']));
  const code = codeAskedFor(person.middleName);
  return {
    userType: person.userType,
    file: hash.digest().readUInt32BE(0) % FILES,
    score: ssn === undefined ? null : MIN_SCORE + (Number(ssn) % (MAX_SCORE - MIN_SCORE + 1)),
    fileCode: code !== null && code >= FIRST_FILE_CODE ? code : null,
  };
}
