// The names of a person within an account and environment. All names are keyed hashes, which reveal nothing without the key and never leave the
// service (docs/contract/platform.md#wrong-answers-of-a-person, #registering-twice).
import type { Applicant } from '../../../kernel/applicant.js';
import type { CallerContext } from '../../../kernel/context.js';
import { keyedId } from '../../../kernel/ids.js';
import { folded } from '../../../published/folded-text.js';

export interface PersonNames {
  /** The name of the person's stream and vault subject. The name is computed from the original spelling, so that stored persons keep their names. */
  readonly personId: string;
  /** Further names that count wrong answers. A caller cannot choose these names freely. */
  readonly countedAs: readonly string[];
  /** A hash of SSN, birth date and last name together. Absent if the person has no SSN. */
  readonly registeredAs?: string;
}

type Scope = Pick<CallerContext, 'accountId' | 'environment'>;

export function namesOf(key: Uint8Array, applicant: Applicant, scope: Scope): PersonNames {
  const { accountId, environment } = scope;
  const named = (kind: string, ...parts: readonly string[]): string =>
    keyedId(key, kind, accountId, environment, ...parts);
  const ssn = ssnOf(applicant.ssn);
  const [first, last] = [foldedLetters(applicant.firstName), foldedLetters(applicant.lastName)];
  const born = birthDateOf(applicant.dateOfBirth);
  const personId = keyedId(key, ...identifying(applicant, scope));
  if (ssn === null) return { personId, countedAs: first + last === '' ? [] : [named('name', first, last, born)] };
  return {
    personId,
    // Several personas of the sandbox share one SSN.
    countedAs: [environment === 'live' ? named('ssn', ssn) : named('ssn', ssn, last)],
    registeredAs: named('registered', ssn, born, last),
  };
}

/** The nine digits of an SSN in any spelling; null for any other text. */
function ssnOf(text = ''): string | null {
  const digits = text.normalize('NFKC').replace(/\D/g, '');
  return digits.length === 9 ? digits : null;
}

/** MMDDYYYY for each common spelling of a date, such as 04121990, 4/12/1990, 1990-04-12 or 19900412. */
function birthDateOf(text = ''): string {
  const spelled = text.normalize('NFKC').replace(/^\s*((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)/, '$1-$2-$3');
  const numbers = spelled.match(/\d+/g) ?? [];
  const [first = '', second = '', third = ''] = numbers;
  if (third === '') return numbers.join('');
  const [month, day, year] = first.length === 4 ? [second, third, first] : [first, second, third];
  return month.padStart(2, '0') + day.padStart(2, '0') + year;
}

/** The letters of a name, without case, accents, hyphens and spaces. */
function foldedLetters(name = ''): string {
  return folded(name).normalize('NFKD').replace(/\P{L}/gu, '').toUpperCase();
}

/** The rule for letters in names of persons. The first releases used this rule, so it must not change. */
function lettersOf(name = ''): string {
  return name.normalize('NFKD').replace(/\P{L}/gu, '').toLowerCase();
}

/**
 * The fields that identify a person within an account and environment. In live they are the SSN and the birth date. The spelling of the name
 * does not matter there.
 * In test the name is a third field, because personas share an SSN.
 * A person without an SSN is identified by birth date, name and phone number.
 */
function identifying(applicant: Applicant, { accountId, environment }: Scope): string[] {
  const name = [lettersOf(applicant.firstName), lettersOf(applicant.lastName)];
  const scope = [accountId, environment, applicant.dateOfBirth ?? ''];
  if (applicant.ssn === undefined) return [...scope, ...name, `phone:${applicant.phoneNumber ?? ''}`];
  return environment === 'live' ? [...scope, applicant.ssn] : [...scope, ...name, applicant.ssn];
}
