// Rules for the fields of the details, equal to the rules of POST /screening/submit. A person sees at once which value the API would refuse. Pure;
// test/unit/embedded compares them with the rules of the API.
import type { UserType } from '../../../contract/callbacks.js';
import { folded, HAS_VISIBLE, phoneDigits, stateCode, zipCode } from './folded.js';
import { US_STATES } from './states.js';

export type FieldName =
  | 'firstName'
  | 'middleName'
  | 'lastName'
  | 'companyName'
  | 'dateOfBirth'
  | 'ssn'
  | 'phoneNumber'
  | 'email'
  | 'currentAddress'
  | 'currentCity'
  | 'currentState'
  | 'currentZip'
  | 'terms';

/** The fault of a field. */
export type Problem =
  'required' | 'name' | 'long' | 'date' | 'minor' | 'ssn' | 'phone' | 'email' | 'characters' | 'state' | 'zip';

export const MAX_LENGTHS: Readonly<Partial<Record<FieldName, number>>> = {
  firstName: 60,
  middleName: 60,
  lastName: 60,
  companyName: 120,
  currentAddress: 120,
  currentCity: 60,
};

const OPTIONAL: readonly FieldName[] = ['middleName', 'email', 'companyName'];
/** The characters other than letters in a simplified name. The maqaf is a hyphen, and the other joining characters belong to their letters. */
const BETWEEN = "'.,\\-\u00b7\u2027\u30fb\u05be\u200c\u200d";
const IN_NAME = `\\p{L}\\p{Mn}\\p{Mc}${BETWEEN}`;
const NAME = new RegExp(`^[${IN_NAME}]+(?: [${IN_NAME} \\p{Nd}]*)?$`, 'u');
const MIDDLE_NAME = new RegExp(`^[${IN_NAME}][${IN_NAME} \\p{Nd}]*$`, 'u');
const HAS_LETTER = /(?!\p{DI})\p{L}/u;
const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;
const ZIP = /^\d{5}(-?\d{4})?$/;
/** A dot must be between other characters. A label of the domain has no hyphen at its ends, and the last label consists of letters. */
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~\u00a1-\uffff-]+(\.[\w!#$%&'*+/=?^`{|}~\u00a1-\uffff-]+)*@([a-z\d\u00a1-\uffff]([a-z\d\u00a1-\uffff-]{0,61}[a-z\d\u00a1-\uffff])?\.)+([a-z\u00a1-\uffff]{2,}|xn[a-z\d-]{2,})$/i;
const EMAIL_PARTS = { local: 64, all: 254 };

/** In the order of the form. */
export function fieldsOf(userType: UserType): readonly FieldName[] {
  return [
    'firstName',
    'middleName',
    'lastName',
    ...(userType === 'PMC' ? (['companyName'] as const) : []),
    'dateOfBirth',
    ...(userType === 'CONSUMER' ? (['ssn'] as const) : []),
    'phoneNumber',
    'email',
    'currentAddress',
    'currentCity',
    'currentState',
    'currentZip',
    'terms',
  ];
}

/** The screens of the step, in their order. */
export const SCREENS = ['about', 'numbers', 'home'] as const;

export type DetailsScreen = (typeof SCREENS)[number];

const OF_NUMBERS: readonly FieldName[] = ['ssn', 'phoneNumber', 'email'];
const OF_HOME: readonly FieldName[] = ['currentAddress', 'currentCity', 'currentState', 'currentZip', 'terms'];

export function screenOf(field: FieldName): DetailsScreen {
  if (OF_NUMBERS.includes(field)) return 'numbers';
  return OF_HOME.includes(field) ? 'home' : 'about';
}

export function isOptional(field: FieldName): boolean {
  return OPTIONAL.includes(field);
}

/** `value`: as it will be sent; for `terms` the time of acceptance. */
export function problemOf(field: FieldName, value: string, now: Date): Problem | null {
  if (value === '') return isOptional(field) ? null : 'required';
  if (Array.from(value).length > (MAX_LENGTHS[field] ?? Infinity)) return 'long';
  return problemOfForm(field, value, now);
}

function isName(form: RegExp, value: string): boolean {
  return form.test(value) && HAS_LETTER.test(value);
}

function problemOfForm(field: FieldName, value: string, now: Date): Problem | null {
  switch (field) {
    case 'firstName':
    case 'lastName':
      return isName(NAME, value) ? null : 'name';
    case 'middleName':
      return isName(MIDDLE_NAME, value) ? null : 'name';
    case 'dateOfBirth':
      return birthDateProblem(value, now);
    case 'ssn':
      return /^\d{9}$/.test(value) ? null : 'ssn';
    case 'phoneNumber':
      return /^(?!1|00)\d{10}$/.test(value) ? null : 'phone';
    case 'email':
      return isEmail(value) ? null : 'email';
    case 'currentState':
      return US_STATES.some((state) => state.value === value) ? null : 'state';
    case 'currentZip':
      return ZIP.test(value) ? null : 'zip';
    case 'companyName':
    case 'currentAddress':
    case 'currentCity':
      return PLAIN_TEXT.test(value) && HAS_VISIBLE.test(value) ? null : 'characters';
    case 'terms':
      return null;
    default:
      return field satisfies never;
  }
}

/** The value as it will be sent, in the service's form. A phone number has ten digits, without the country code. */
export function normalized(field: FieldName, value: string): string {
  switch (field) {
    case 'phoneNumber':
      return phoneDigits(value).replace(/^(?:\+1|1(?=\d{10}$))/, '');
    case 'currentState':
      return stateCode(value);
    case 'currentZip':
      return zipCode(value);
    case 'email':
      // Invisible characters are part of pasted text, and the person could not remove them.
      return value.trim().replace(/\p{Cf}/gu, '');
    case 'terms':
      return value;
    default:
      return folded(value.trim());
  }
}

function birthDateProblem(value: string, now: Date): Problem | null {
  const age = /^\d{8}$/.test(value) ? ageOf(value, now) : -1;
  if (age < 0 || age > 120) return 'date';
  return age < 18 ? 'minor' : null;
}

/** In whole years by the date in UTC. Negative for a date that does not exist or is in the future. */
function ageOf(mmddyyyy: string, now: Date): number {
  const [month, day, year] = [Number(mmddyyyy.slice(0, 2)), Number(mmddyyyy.slice(2, 4)), Number(mmddyyyy.slice(4))];
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isReal || date > now) return -1;
  const hadBirthday = now.getUTCMonth() > month - 1 || (now.getUTCMonth() === month - 1 && now.getUTCDate() >= day);
  return now.getUTCFullYear() - year - (hadBirthday ? 0 : 1);
}

function isEmail(value: string): boolean {
  const local = value.slice(0, value.lastIndexOf('@'));
  return (
    EMAIL.test(value) &&
    !/[\p{Cf}\p{Cs}]/u.test(value) &&
    local.length <= EMAIL_PARTS.local &&
    value.length <= EMAIL_PARTS.all
  );
}
