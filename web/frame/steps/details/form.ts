// The typed details, and the request that is made from them. Pure.
import type { UserType } from '../../../contract/callbacks.js';
import type { FrameStart } from '../../../contract/messages.js';
import type { Prefill } from '../../../contract/options.js';
import type { Fingerprint, ScreeningOptions } from '../../api/wire.js';
import { type FieldName, fieldsOf, normalized, type Problem, problemOf, SCREENS, screenOf } from './rules.js';

/** The values as typed. The SSN and the birth date have only digits; `terms` has the time of acceptance, as ISO 8601. */
export type Values = Readonly<Record<FieldName, string>>;

export type Problems = Readonly<Partial<Record<FieldName, Problem>>>;

const EMPTY: Values = {
  firstName: '',
  middleName: '',
  lastName: '',
  companyName: '',
  dateOfBirth: '',
  ssn: '',
  phoneNumber: '',
  email: '',
  currentAddress: '',
  currentCity: '',
  currentState: '',
  currentZip: '',
  terms: '',
};

export function valuesFrom(prefill: Prefill): Values {
  const { phoneNumber = '', currentState = '' } = prefill;
  return {
    ...EMPTY,
    ...prefill,
    phoneNumber: written('phoneNumber', phoneNumber),
    currentState: normalized('currentState', currentState),
  };
}

/** For people: a phone number of ten digits in groups, and all other values as typed. */
export function written(field: FieldName, value: string): string {
  const [, area, exchange, line] = /^(\d{3})(\d{3})(\d{4})$/.exec(normalized(field, value)) ?? [];
  return field === 'phoneNumber' && area ? `(${area}) ${exchange}-${line}` : value;
}

/** Divides the page's prefill into valid values and the names of invalid ones. */
export function readPrefill(prefill: Prefill, now: Date): { valid: Prefill; invalid: readonly string[] } {
  const entries = Object.entries(prefill) as [keyof Prefill, string][];
  const isValid = ([field, value]: [keyof Prefill, string]): boolean =>
    problemOf(field, normalized(field, value), now) === null;
  return {
    valid: Object.fromEntries(entries.filter(isValid)),
    invalid: entries.filter((entry) => !isValid(entry)).map(([field]) => field),
  };
}

export function problemsOf(values: Values, userType: UserType, now: Date): Problems {
  return Object.fromEntries(
    fieldsOf(userType)
      .map((field) => [field, problemOf(field, normalized(field, values[field]), now)] as const)
      .filter(([, problem]) => problem !== null),
  );
}

/** Whether no screen before the field's screen has a problem. */
export function isReachable(field: FieldName, values: Values, userType: UserType, now: Date): boolean {
  const wrong = Object.keys(problemsOf(values, userType, now)) as FieldName[];
  return wrong.every((other) => SCREENS.indexOf(screenOf(other)) >= SCREENS.indexOf(screenOf(field)));
}

/** The text that the person has read. */
type Shown = Pick<ScreeningOptions['terms'], 'version' | 'language'>;

/** The body of POST /screening/submit. Empty fields are omitted. */
export function bodyOf(values: Values, start: FrameStart, terms: Shown, device: Fingerprint): object {
  const { unitAddress, userType, endUserType, productId } = start;
  const fields = fieldsOf(userType)
    .filter((field) => field !== 'terms')
    .map((field) => [field, normalized(field, values[field])] as const)
    .filter(([, value]) => value !== '');
  return {
    ...Object.fromEntries(fields),
    userType,
    ...(unitAddress !== null && { unitAddress }),
    ...(endUserType === null ? {} : { endUserType }),
    ...(productId === null ? {} : { productId }),
    termsAcceptedAt: values.terms,
    termsVersion: terms.version,
    termsLanguage: terms.language,
    ...device,
  };
}
