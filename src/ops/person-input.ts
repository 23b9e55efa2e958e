// Reads the details of a person from an operator who searches for the person. The operator types the details at a prompt without echo, or names a file. Other users of the
// machine could read the arguments of a command, and a shell keeps them in its history.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Applicant } from '../kernel/applicant.js';
import { WrongInput } from './operator.js';

export type PersonDetails = Pick<Applicant, 'firstName' | 'lastName' | 'dateOfBirth' | 'ssn' | 'phoneNumber'>;

const QUESTIONS = {
  ssn: 'SSN (empty if the person gave none)',
  firstName: 'First name',
  lastName: 'Last name',
  dateOfBirth: 'Date of birth (MMDDYYYY)',
  phoneNumber: 'Phone number (empty if the person gave an SSN)',
} as const satisfies Record<keyof PersonDetails, string>;

const NAMES = Object.keys(QUESTIONS) as readonly (keyof PersonDetails)[];

/** `file`: a JSON file; `-` is standard input; null asks on the terminal. */
export async function personDetails(file: string | null): Promise<PersonDetails> {
  const details = file === null ? await asked() : inFile(file);
  if (details.ssn === undefined && details.lastName === undefined)
    throw new WrongInput(`The person needs the SSN, or the name and the date of birth: ${NAMES.join(', ')}.`);
  return details;
}

function inFile(file: string): PersonDetails {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch {
    // The message of the fault might quote the file.
    throw new WrongInput('The file of --person cannot be read as JSON.');
  }
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const isRight = fields.every(([name, text]) => Object.hasOwn(QUESTIONS, name) && typeof text === 'string');
  if (fields.length === 0 || !isRight)
    throw new WrongInput(`The file of --person must be a JSON object with texts for some of ${NAMES.join(', ')}.`);
  return Object.fromEntries(fields.filter(([, text]) => text !== ''));
}

async function asked(): Promise<PersonDetails> {
  if (!process.stdin.isTTY)
    throw new WrongInput(
      '--person asks on a terminal. Without one, name a JSON file: --person <file>, or - for standard input.',
    );
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true, historySize: 0 });
  const details: Partial<Record<keyof PersonDetails, string>> = {};
  try {
    for (const name of NAMES) {
      process.stderr.write(`${QUESTIONS[name]}, not shown: `);
      const text = (await terminal.question('')).trim();
      process.stderr.write('\n');
      if (text !== '') details[name] = text;
    }
  } finally {
    terminal.close();
  }
  return details;
}
