// The double's understanding of a request, in the words of the service's applicant. A certification compares it with the applicant that was sent.
import type { CheckBody, PersonBody, ReportRequestBody, VerificationBody } from './requests.js';

export type Understood = Readonly<Record<string, unknown>>;

const USER_TYPES = { consumer: 'CONSUMER', agent: 'AGENT', organization: 'PMC' } as const;
const PHONE_TYPES = { mobile: 'C', home: 'H', work: 'W' } as const;

export function understoodVerification({ person, device, consent }: VerificationBody): Understood {
  return withoutGaps({
    ...understoodPerson(person),
    jscPayload: device.payload,
    hdimPayload: device.second_payload,
    ipAddress: device.ip,
    termsAcceptedAt: consent?.given_at,
  });
}

export function understoodReport({ person, permissible_purpose, end_user, consent }: ReportRequestBody): Understood {
  return withoutGaps({
    ...understoodPerson(person),
    purpose: permissible_purpose,
    endUser: end_user.reference,
    endUserKind: end_user.kind,
    termsAcceptedAt: consent?.given_at,
    termsVersion: consent?.text_version,
  });
}

export function understoodCheck({ person, consent }: CheckBody): Understood {
  return withoutGaps({ ...(person && understoodPerson(person)), termsAcceptedAt: consent?.given_at });
}

function understoodPerson({ address = { country: 'US' }, phone = {}, ...person }: PersonBody): Understood {
  const [year, month, day] = (person.birth_date ?? '').split('-');
  return withoutGaps({
    userType: USER_TYPES[person.kind],
    firstName: person.given_name,
    middleName: person.middle_name,
    lastName: person.family_name,
    dateOfBirth: [month, day, year].join(''),
    ssn: person.ssn,
    phoneNumber: phone.number?.slice(2),
    phoneType: phone.line && PHONE_TYPES[phone.line],
    email: person.email,
    companyName: person.organization,
    address: withoutGaps({
      street: address.line1,
      city: address.city,
      state: address.region,
      zip: address.postal_code,
    }),
  });
}

function withoutGaps(fields: Understood): Understood {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
