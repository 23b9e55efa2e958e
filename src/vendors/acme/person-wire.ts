// A person on acme's wire, in a verification and in a request for a report.
import type { Applicant } from '../../kernel/applicant.js';

const KINDS = { CONSUMER: 'consumer', AGENT: 'agent', PMC: 'organization' } as const;
const LINES = { C: 'mobile', H: 'home', W: 'work' } as const;

/** The facts of an applicant that acme takes. */
type Person = Pick<
  Applicant,
  | 'userType'
  | 'firstName'
  | 'middleName'
  | 'lastName'
  | 'dateOfBirth'
  | 'ssn'
  | 'phoneNumber'
  | 'phoneType'
  | 'email'
  | 'companyName'
  | 'address'
>;

/** Omits absent data, so that acme reports the missing field itself. A field in another form is sent as it is. */
export function personBody({ address, phoneNumber, phoneType, dateOfBirth, ...person }: Person): object {
  return {
    kind: KINDS[person.userType],
    given_name: person.firstName,
    middle_name: person.middleName,
    family_name: person.lastName,
    birth_date: dateOfBirth?.replace(/^(\d{2})(\d{2})(\d{4})$/, '$3-$1-$2'),
    ssn: person.ssn,
    phone: {
      number: phoneNumber?.replace(/^(\d{10})$/, '+1$1'),
      line: phoneType && LINES[phoneType],
    },
    email: person.email,
    organization: person.companyName,
    address: {
      line1: address?.street,
      city: address?.city,
      region: address?.state,
      postal_code: address?.zip,
      country: 'US',
    },
  };
}
