// What a refusal of POST /screening/submit means for the form. Pure.
import type { Refusal } from '../../api/wire.js';
import type { FieldName } from './rules.js';
import type { TEXTS } from './texts.js';

type TextKey = keyof (typeof TEXTS)['en'];

export interface Reading {
  /** What is wrong with fields of the form. */
  readonly fields: Readonly<Partial<Record<FieldName, TextKey>>>;
  /** There is nothing to correct: the form has done its part. */
  readonly isFinal: boolean;
  /** The option of the page that the API does not take. */
  readonly option: 'endUserType' | 'productId' | null;
}

/** Codes that no correction helps against. */
const FINAL = [
  'ALREADY_REGISTERED',
  'USER_BLOCKED',
  'IDENTITY_NOT_FOUND',
  'TOO_MANY_ATTEMPTS',
  'PRODUCT_NOT_ENABLED',
  'ACCOUNT_NOT_PROVISIONED',
];

/** Where a code belongs that names no field. */
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

/** What is told of a field whose form the API refuses. */
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
  // The code is about the first of them; of the others it is known that their form is refused.
  const named = refusal.details?.map(({ field }) => field) ?? [];
  if (refusal.field !== undefined && !named.includes(refusal.field)) named.unshift(refusal.field);
  const fields: Partial<Record<FieldName, TextKey>> = {};
  for (const name of named) {
    const field = fieldOf(name);
    const ofCode = name === refusal.field ? TEXT_OF_CODE[refusal.code] : undefined;
    if (field) fields[field] ??= ofCode ?? TEXT_OF_FIELD[field];
  }
  const field = FIELD_OF_CODE[refusal.code];
  if (field && Object.keys(fields).length === 0) fields[field] = TEXT_OF_CODE[refusal.code] ?? TEXT_OF_FIELD[field];
  return {
    fields,
    isFinal: FINAL.includes(refusal.code),
    option: named.find((name) => name === 'endUserType' || name === 'productId') ?? null,
  };
}

function fieldOf(name: string): FieldName | null {
  if (name === 'termsAcceptedAt') return 'terms';
  return Object.hasOwn(TEXT_OF_FIELD, name) ? (name as FieldName) : null;
}
