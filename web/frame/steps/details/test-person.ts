// An ordinary person for the details in test mode. Pure.
import type { UserType } from '../../../contract/callbacks.js';
import { problemsOf, type Values, written } from './form.js';
import { fieldsOf, isOptional } from './rules.js';

/** Numbers that belong to no person: SSNs with area 666 are never issued, and 555-01xx is reserved for examples. */
const PERSON = {
  firstName: 'Robin',
  lastName: 'Sample',
  dateOfBirth: '04121990',
  phoneNumber: '5125550132',
  currentAddress: '98 Oak Avenue',
  currentCity: 'Austin',
  currentState: 'TX',
  currentZip: '78702',
};
const FIRST_SSN = 666_443_210;
/** The sandbox computes the score from the remainder, so every test person has the same good score. */
const SSN_STEP = 551;
const SSN_COUNT = 1_000;

/** Keeps every typed value that is valid. `random`: from 0 to less than 1, so that the test persons differ. */
export function testPerson(values: Values, userType: UserType, now: Date, random: number): Values {
  const ssn = String(FIRST_SSN + SSN_STEP * Math.floor(random * SSN_COUNT));
  const person: Partial<Values> = { ...PERSON, ssn, terms: now.toISOString() };
  const problems = problemsOf(values, userType, now);
  const needed = fieldsOf(userType).filter((field) => problems[field] && !isOptional(field));
  return { ...values, ...Object.fromEntries(needed.map((field) => [field, written(field, person[field] ?? '')])) };
}
