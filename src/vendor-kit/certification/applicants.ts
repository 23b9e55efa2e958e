// Further applicants for the record of an adapter's requests: one with every field, one of each type, and one with the least fields.
import type { Applicant } from '../../kernel/applicant.js';
import type { CertifiedPersona } from '../double/certified-double.js';

const EVERY_FIELD: Partial<Applicant> = {
  userType: 'AGENT',
  middleName: 'Certificata',
  phoneType: 'H',
  companyName: 'Certified Canary Homes',
  mothersMaidenName: 'Vorsprungia',
  spouseName: 'Ambrosius Ordinarius',
  propertyZip: '62703',
  productId: 7,
  hdimPayload: 'second-fingerprint-of-a-certified-device',
};

/** The names are there, because the fields of the base would be there otherwise. JSON leaves them out. */
const NO_FIELD: { readonly [Name in keyof Applicant]?: undefined } = {
  firstName: undefined,
  lastName: undefined,
  dateOfBirth: undefined,
  ssn: undefined,
  phoneNumber: undefined,
  phoneType: undefined,
  email: undefined,
  address: undefined,
  ipAddress: undefined,
  termsAcceptedAt: undefined,
};

/** Letters outside ASCII, and zeros at the start, which a number would lose. */
const OTHER_FORM: Partial<Applicant> = {
  firstName: 'Zoë-Aurélie',
  ssn: '001020304',
  address: { street: '0815 Canarywharf Lane', city: 'Cañon City', state: 'MA', zip: '02134' },
  userType: 'PMC',
  phoneType: 'W',
  phoneNumber: '120255501877',
  dateOfBirth: '12304071983',
};

/** The applicants instead of the first persona of each kind. The vendor may refuse them. */
export function furtherPersonas(personas: readonly CertifiedPersona[]): readonly CertifiedPersona[] {
  const bases = [
    personas.find(({ registration }) => registration?.kind === 'confirmed'),
    personas.find(({ report }) => report?.kind === 'report'),
    personas.find(({ income }) => income !== undefined),
  ].filter((persona) => persona !== undefined);
  return [...new Set(bases)].flatMap((base) =>
    [EVERY_FIELD, OTHER_FORM, NO_FIELD].map((person) => ({
      ...base,
      person: { ...base.person, ...(person as Partial<Applicant>) },
    })),
  );
}
