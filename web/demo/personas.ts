// The people of the sandbox, by the last names that trigger a behaviour of its vendors (docs/sandbox.md).
// The social security number is never prefilled, so that the visitor types it.
import type { Prefill } from '../contract/options.js';

export interface Persona {
  readonly lastName: string;
  readonly line: string;
}

export const PERSONAS: readonly { readonly group: string; readonly people: readonly Persona[] }[] = [
  {
    group: 'Identity',
    people: [
      { lastName: 'Rivera', line: 'Confirmed at once, as every name that is not listed.' },
      { lastName: 'Otptest', line: 'Asked for a code: 123456.' },
      { lastName: 'Kbatest', line: 'Asked four questions: answers 1, 2, 3, 4.' },
      { lastName: 'Choicetest', line: 'May choose between code and questions.' },
      { lastName: 'Lockedtest', line: 'Locked on the first wrong code.' },
      { lastName: 'Expiredtest', line: 'The session is over before the code.' },
      { lastName: 'Alreadytest', line: 'Confirmed, and known from before.' },
      { lastName: 'Slowtest', line: 'Confirmed after two seconds.' },
    ],
  },
  {
    group: 'Refused',
    people: [
      { lastName: 'Notfound', line: 'The identity is not found.' },
      { lastName: 'Fraudtest', line: 'Reported as fraud.' },
      { lastName: 'Sanctiontest', line: 'On the sanctions list.' },
      { lastName: 'Alerttest', line: 'On the alert list.' },
      { lastName: 'Deceasedtest', line: 'Reported as deceased.' },
      { lastName: 'Addresstest', line: 'The address cannot be standardized.' },
    ],
  },
  {
    group: 'Report',
    people: [
      { lastName: 'Frozentest', line: 'The credit file is frozen.' },
      { lastName: 'Nohittest', line: 'The bureau has no file.' },
      { lastName: 'Thinfiletest', line: 'A report without a score.' },
      { lastName: 'Evictiontest', line: 'A judgment in housing court.' },
      { lastName: 'Backgroundtest', line: 'A conviction.' },
      { lastName: 'Bankruptcytest', line: 'A discharged bankruptcy.' },
      { lastName: 'Fraudalerttest', line: 'A fraud alert in the file.' },
      { lastName: 'Activedutytest', line: 'An active-duty alert in the file.' },
      { lastName: 'Newaddresstest', line: 'The file has another address.' },
    ],
  },
  {
    group: 'Income',
    people: [
      { lastName: 'Nopayrolltest', line: 'Nothing by payroll; found by banking.' },
      { lastName: 'Noincometest', line: 'Nothing found by either.' },
      { lastName: 'Incomeerrortest', line: 'The income vendor fails.' },
      { lastName: 'Slowincometest', line: 'In progress until decided by hand.' },
    ],
  },
  {
    group: 'A vendor in trouble',
    people: [
      { lastName: 'Flakytest', line: 'Down once, then confirmed.' },
      { lastName: 'Downtest', line: 'Down.' },
      { lastName: 'Timeouttest', line: 'Never answers.' },
      { lastName: 'Resettest', line: 'The connection breaks.' },
      { lastName: 'Redirecttest', line: 'Answers with a redirect.' },
      { lastName: 'Garbledtest', line: 'Answers with no JSON.' },
    ],
  },
];

/** A new birthday and phone each time, so that repeated trials do not reach the limits against abuse. */
export function prefillOf({ lastName }: Persona): Prefill {
  const chance = (below: number): string => String(Math.floor(Math.random() * below)).padStart(2, '0');
  return {
    firstName: 'Robin',
    lastName,
    dateOfBirth: `041${chance(10).slice(1)}19${60 + Number(chance(40))}`,
    phoneNumber: `51255501${chance(100)}`,
    email: 'robin@example.test',
    currentAddress: '100 Main St',
    currentCity: 'Austin',
    currentState: 'TX',
    currentZip: '78701',
  };
}
