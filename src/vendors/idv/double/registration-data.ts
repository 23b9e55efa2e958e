// The vendor's rules for a person's data, and its number for each broken rule. An empty field counts as missing.
import { isIP } from 'node:net';
import type { RegistrationBody } from './requests.js';

export interface Objection {
  readonly code: number;
  /** The field's name with dots, as in the body. */
  readonly field: string;
}

const MINOR = 10;
const FORMAT = 13;
const SURNAME = 45;
const ZIP = 49;
const SSN_REQUIRED = 403;
const YEAR_OF_BIRTH_REQUIRED = 405;
const ADDRESS = 407;
const STREET = 627;
const ADDRESS_TOO_LONG = 633;
const INPUT_VALIDATION = 708;

const MAX_STREET = 255;
const ADULT_YEARS = 18;

/** The first broken rule; null if the data are valid. */
export function objectionTo(body: RegistrationBody, now: Date): Objection | null {
  const { dateOfBirth, ssn, phone, email, ipAddress, address } = filled(body);
  const { street, city, state, zip } = address;
  const objections: readonly (readonly [wrong: boolean, code: number, field: string])[] = [
    [isEmpty(body.firstName), INPUT_VALIDATION, 'firstName'],
    [isEmpty(body.lastName), SURNAME, 'lastName'],
    [ssn === '' && body.userType === 'CONSUMER', SSN_REQUIRED, 'ssn'],
    [ssn !== '' && !/^\d{9}$/.test(ssn), FORMAT, 'ssn'],
    [!isBirthDate(dateOfBirth), YEAR_OF_BIRTH_REQUIRED, 'dateOfBirth'],
    [isMinor(dateOfBirth, now), MINOR, 'dateOfBirth'],
    [!/^\d{10}$/.test(phone), FORMAT, 'phone.number'],
    [email !== '' && !/^[^@\s]+@[^@\s]+$/.test(email), FORMAT, 'email'],
    [isEmpty(street), STREET, 'address.street'],
    [street.length > MAX_STREET, ADDRESS_TOO_LONG, 'address.street'],
    [isEmpty(city), ADDRESS, 'address.city'],
    [isEmpty(state), ADDRESS, 'address.state'],
    [!/^\d{5}(-?\d{4})?$/.test(zip), ZIP, 'address.zip'],
    [ipAddress !== '' && isIP(ipAddress) === 0, FORMAT, 'ipAddress'],
  ];
  const first = objections.find(([wrong]) => wrong);
  return first === undefined ? null : { code: first[1], field: first[2] };
}

/** An absent text counts as empty. */
function filled({ dateOfBirth = '', ssn = '', phone, email = '', address = {}, ipAddress = '' }: RegistrationBody) {
  const { street = '', city = '', state = '', zip = '' } = address;
  return { dateOfBirth, ssn, email, ipAddress, phone: phone?.number ?? '', address: { street, city, state, zip } };
}

function isEmpty(text = ''): boolean {
  return text.trim() === '';
}

/** MMDDYYYY. */
function isBirthDate(text: string): boolean {
  return /^(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(18|19|20)\d\d$/.test(text);
}

function isMinor(birthDate: string, now: Date): boolean {
  const [month, day, year] = [birthDate.slice(0, 2), birthDate.slice(2, 4), birthDate.slice(4)];
  return `${Number(year) + ADULT_YEARS}-${month}-${day}` > now.toISOString().slice(0, 10);
}
