// How the form changes when POST /screening/submit is refused. Pure.
import type { Refusal } from '../../api/wire.js';
import type { FieldName } from './rules.js';
import type { TEXTS } from './texts.js';

type TextKey = keyof (typeof TEXTS)['en'];

export interface Reading {
  /** The errors by field of the form. */
  readonly fields: Readonly<Partial<Record<FieldName, TextKey>>>;
  /** The person has nothing to correct, so the form ends. */
  readonly isFinal: boolean;
  /** The page's option that the API does not accept. */
  readonly option: 'endUserType' | 'productId' | null;
}

/** Codes for which no correction helps. */
const FINAL = [
  'ALREADY_REGISTERED',
  'USER_BLOCKED',
  'IDENTITY_NOT_FOUND',
  'TOO_MANY_ATTEMPTS',
  'PRODUCT_NOT_ENABLED',
  'ACCOUNT_NOT_PROVISIONED',
];

/** The field to which a code without a field belongs. */
const FIELD_OF_CODE: Readonly<Record<string, FieldName>> = {
  INVALID_SSN: 'ssn',
  INVALID_DOB: 'dateOfBirth',
  MINOR_CONSUMER: 'dateOfBirth',
  INVALID_ADDRESS: 'currentAddress',
  REPORT_MISSING_FIELD: 'ssn',
};

const TEXT_OF_CODE: Readonly<Record<string, TextKey>> = {
  INVALID_ADDRESS: 'addressRefused',
  MINOR_CONSUMER: 'minor',
  INVALID_DOB: 'date',
  INVALID_SSN: 'ssnProblem',
};

/** The message for a field whose form the API refuses. */
const TEXT_OF_FIELD: Readonly<Record<FieldName, TextKey>> = {
  firstName: 'name',
  middleName: 'name',
  lastName: 'name',
  companyName: 'characters',
  dateOfBirth: 'date',
  ssn: 'ssnProblem',
  phoneNumber: 'phone',
  email: 'emailProblem',
  currentAddress: 'characters',
  currentCity: 'characters',
  currentState: 'state',
  currentZip: 'zip',
  terms: 'clock',
};

export function readRefusal(refusal: Refusal): Reading {
  // The code belongs to the first field. The other fields only have a form that was refused.
  const named = refusal.details?.map(({ field }) => field) ?? [];
  if (refusal.field !== undefined && !named.includes(refusal.field)) named.unshift(refusal.field);
  const fields: Partial<Record<FieldName, TextKey>> = {};
  for (const name of named) {
    const field = fieldOf(name);
    const ofCode = name === refusal.field ? TEXT_OF_CODE[refusal.code] : undefined;
    if (field) fields[field] ??= ofCode ?? TEXT_OF_FIELD[field];
  }
  return {
    fields: Object.keys(fields).length > 0 ? fields : fieldsOfCode(refusal),
    isFinal: FINAL.includes(refusal.code),
    option: named.find((name) => name === 'endUserType' || name === 'productId') ?? null,
  };
}

function fieldsOfCode({ code }: Refusal): Reading['fields'] {
  const field = FIELD_OF_CODE[code];
  return field ? { [field]: TEXT_OF_CODE[code] ?? TEXT_OF_FIELD[field] } : {};
}

function fieldOf(name: string): FieldName | null {
  if (name === 'termsAcceptedAt') return 'terms';
  return Object.hasOwn(TEXT_OF_FIELD, name) ? (name as FieldName) : null;
}
