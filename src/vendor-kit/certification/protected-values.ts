// The values that an adapter must not let out, and that a recording must not keep.
import type { Applicant } from '../../kernel/applicant.js';
import type { Canaries } from '../canaries.js';
import type { CertifiedPersona } from '../double/certified-double.js';
import type { Laboratory } from './laboratory.js';
import { PERSON, personOf } from './operations.js';
import { isAt, textsOf } from './personal.js';
import type { SeenRequest } from './proxy.js';

type Named = readonly [name: string, values: readonly (string | null | undefined)[]];

/** The values that must stay inside: data of the personas, settings, access tokens, and the texts at the declared places. */
export function canariesOf(
  { double: { code }, settings, vendor: { personal = [] } }: Laboratory,
  personas: readonly CertifiedPersona[],
  requests: readonly SeenRequest[],
): Canaries {
  const texts = requests.flatMap(textsOf).filter(({ pointer }) => isAt(personal, pointer));
  const named: readonly Named[] = [
    ...texts.map(({ pointer, value }) => [`text of ${pointer}`, [value]] as const),
    ...[PERSON, ...personas.map(personOf)].flatMap(personalIn),
    ['code', [code?.right, code?.wrong]],
    ['setting', Object.values(settings).filter((value) => !value?.includes('://'))],
    ['access token', requests.map(({ headers }) => headers.authorization?.split(' ').at(-1))],
  ];
  return longEnough(named);
}

export function personalOf(personas: readonly CertifiedPersona[]): Canaries {
  return longEnough([PERSON, ...personas.map(personOf)].flatMap(personalIn));
}

/** A shorter value could occur by chance. */
function longEnough(named: readonly Named[]): Canaries {
  const names = named.flatMap(([name, values]) => values.map((value) => [value ?? '', name] as const));
  return [...new Map(names)].filter(([value]) => value.length >= 6).map(([value, name]) => [name, value]);
}

function personalIn(applicant: Applicant): readonly Named[] {
  const { ipAddress, jscPayload, hdimPayload } = applicant;
  const {
    ssn = '',
    firstName = '',
    lastName = '',
    phoneNumber = '',
    email = '',
    address,
    dateOfBirth = '',
  } = applicant;
  const [month, day, year] = [dateOfBirth.slice(0, 2), dateOfBirth.slice(2, 4), dateOfBirth.slice(4)];
  return [
    ['SSN', [ssn, ssn.replace(/^(...)(..)/, '$1-$2-')]],
    ['birth date', [dateOfBirth, `${year}-${month}-${day}`, `${year}${month}${day}`, `${month}/${day}/${year}`]],
    ['first name', [firstName]],
    ['last name', [lastName]],
    ['phone number', [phoneNumber]],
    ['email address', [email]],
    ['IP address', [ipAddress]],
    ['fingerprint', [jscPayload, hdimPayload]],
    ['street', [address?.street ?? '']],
  ];
}
