// Derives two facts from the state of a session: the domain error for the caller of an attempt, and whether the vendor executed the attempt.
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import type { FieldName } from '../../../kernel/field-names.js';
import type { RefusedInput, VendorRefusal } from '../../../kernel/refused-input.js';
import { attemptOf, isOpen, isUnderReview, personBlocked } from '../domain/screening-session.js';
import type { BlockReason, ErrorCause, ExpiryCause, Session } from '../domain/session.js';

/** A session after one of its steps. */
export interface StepTaken {
  readonly session: Session;
  /** The attempt that was made; null if the vendor received no call. */
  readonly attemptId: string | null;
}

/**
 * The domain error that the caller gets instead of a session result; null if the caller gets a result
 * (docs/contract/platform.md#ends-of-a-session).
 */
export function refusalOf(session: Session, attemptId: string): DomainError | null {
  switch (session.status) {
    case 'BLOCKED':
      return session.reasonCode === 'TOO_MANY_ATTEMPTS' ? null : refusalOfBlock(session.reasonCode);
    case 'EXPIRED':
      if (session.cause === 'NOT_EXECUTED') return new DomainError('service.unavailable');
      return session.cause === 'VENDOR_SESSION_OVER' ? new DomainError('screening.session_spent') : null;
    case 'ERROR':
      return refusalOfError(session.cause, session.refusedInput);
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      // A worker or the recovery job records the result later.
      if (attemptOf(session)?.attemptId === attemptId) return new DomainError('service.upstream_timeout');
      return session.abandoned?.attemptId === attemptId ? new DomainError('service.unavailable') : null;
    case 'SUBMITTED':
    case 'VERIFIED':
      return null;
    default:
      return session satisfies never;
  }
}

function refusalOfBlock(reason: Exclude<BlockReason, 'TOO_MANY_ATTEMPTS'>): DomainError {
  if (reason === 'IDENTITY_NOT_FOUND') return new DomainError('screening.identity_not_found');
  return reason === 'MINOR_CONSUMER' ? new DomainError('screening.minor') : personBlocked(null);
}

function refusalOfError(cause: ErrorCause, input: RefusedInput = 'unspecified'): DomainError | null {
  switch (cause) {
    case 'INPUT_REFUSED': {
      const objection = REFUSED_INPUTS[input];
      return objection.field === null
        ? new DomainError(objection.code, { rule: objection.rule })
        : fieldError(objection.code, objection.field, objection.message);
    }
    case 'REPORT_EXPIRED':
      return new DomainError('screening.report_expired');
    case 'PRODUCT_NOT_ENABLED':
      return new DomainError('screening.product_not_enabled');
    case 'VENDOR_UNAVAILABLE':
      return new DomainError('service.unavailable');
    case 'VENDOR_UNINTELLIGIBLE':
    case 'NO_VERDICT':
      return null;
    default:
      return cause satisfies never;
  }
}

/** Whether the vendor has ended the session, or has not decided in time. */
export function isOverAtVendor(cause: ExpiryCause): boolean {
  return cause === 'VENDOR_SESSION_OVER' || cause === 'NOT_REVIEWED';
}

/** The vendor's refusal that ended the session; null if the session goes on, or ended for another reason. */
export function vendorRefusalIn(
  session: Session,
): { readonly refusal: VendorRefusal; readonly field: FieldName | null } | null {
  if (session.status === 'BLOCKED')
    return session.reasonCode === 'TOO_MANY_ATTEMPTS' ? null : { refusal: session.reasonCode, field: null };
  if (session.status === 'EXPIRED')
    return isOverAtVendor(session.cause) ? { refusal: 'session-over', field: null } : null;
  if (session.status !== 'ERROR') return null;
  const { cause, refusedInput = 'unspecified' } = session;
  if (cause === 'INPUT_REFUSED') return { refusal: refusedInput, field: REFUSED_INPUTS[refusedInput].field };
  if (cause === 'PRODUCT_NOT_ENABLED') return { refusal: 'product-not-enabled', field: null };
  return cause === 'REPORT_EXPIRED' ? { refusal: 'report-expired', field: null } : null;
}

/** Whether the vendor may have sent a code in this attempt. The value is true if this is unknown. */
export function mayHaveSentSms(session: Session, attemptId: string): boolean {
  switch (session.status) {
    case 'SUBMITTED':
      return !isUnderReview(session);
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      return session.stepUp.otp && session.abandoned?.attemptId !== attemptId;
    case 'ERROR':
      return session.cause === 'VENDOR_UNINTELLIGIBLE' || session.cause === 'NO_VERDICT';
    case 'EXPIRED':
      return session.cause !== 'VENDOR_SESSION_OVER' && session.cause !== 'NOT_EXECUTED';
    case 'VERIFIED':
    case 'BLOCKED':
      return false;
    default:
      return session satisfies never;
  }
}

/** Whether it is certain that the vendor did nothing for this attempt. */
export function wasNotExecuted(session: Session, attemptId: string): boolean {
  if (isOpen(session)) return session.abandoned?.attemptId === attemptId;
  return session.status === 'ERROR'
    ? session.cause === 'VENDOR_UNAVAILABLE'
    : session.status === 'EXPIRED' && session.cause === 'NOT_EXECUTED';
}

/** The errors for the vendor's objections to the data. */
const REFUSED_INPUTS: Record<
  RefusedInput,
  | { readonly code: ErrorCode; readonly field: FieldName; readonly message: string }
  | { readonly code: ErrorCode; readonly field: null; readonly rule: string }
> = {
  'first-name': {
    code: 'screening.field_format',
    field: 'person.firstName',
    message: 'must be the name as on official documents',
  },
  'middle-name': {
    code: 'screening.field_format',
    field: 'person.middleName',
    message: 'must be the name as on official documents',
  },
  'last-name': {
    code: 'screening.field_format',
    field: 'person.lastName',
    message: 'must be the name as on official documents',
  },
  'date-of-birth': {
    code: 'screening.birth_date_impossible',
    field: 'person.birthDate',
    message: 'must be the real date of birth as MMDDYYYY',
  },
  ssn: { code: 'screening.ssn_malformed', field: 'person.ssn', message: 'must be a real SSN of nine digits' },
  phone: {
    code: 'screening.field_format',
    field: 'person.phone',
    message: 'must be a number in service, of ten digits',
  },
  email: { code: 'screening.field_format', field: 'person.email', message: 'must be a mail address' },
  'company-name': {
    code: 'screening.field_format',
    field: 'person.companyName',
    message: 'must be the name of a company',
  },
  address: {
    code: 'screening.address_refused',
    field: 'address.street',
    message: 'must be a street address that mail can be delivered to, in the given city, state and zip code',
  },
  city: { code: 'screening.address_refused', field: 'address.city', message: 'must be the city of the address' },
  state: { code: 'screening.address_refused', field: 'address.state', message: 'must be the state of the address' },
  zip: { code: 'screening.field_format', field: 'address.postalCode', message: 'must be the zip code of the address' },
  device: {
    code: 'screening.field_format',
    field: 'device.fingerprint',
    message: 'must be the fingerprint as the collector gave it',
  },
  'ssn-missing': { code: 'screening.ssn_missing', field: 'person.ssn', message: 'is required' },
  'middle-name-missing': {
    code: 'screening.ssn_missing',
    field: 'person.middleName',
    message: 'is required to tell the person apart from others with the same name',
  },
  'generation-code-missing': {
    code: 'screening.ssn_missing',
    field: 'person.lastName',
    message: 'must end with the generation, such as Jr or III',
  },
  format: {
    code: 'screening.field_format',
    field: null,
    rule: 'The identity vendor refused the format of a field without naming it.',
  },
  'more-identification': {
    code: 'request.invalid',
    field: null,
    rule: 'The law of the state requires more identification than was given.',
  },
  unspecified: {
    code: 'request.invalid',
    field: null,
    rule: 'The identity vendor refused the data without naming a field.',
  },
};

/** A new submission of a locked person is refused. When a locked person answers a question, the caller gets the blocked session instead. */
export function refusalOfSubmission(session: Session, attemptId: string): DomainError | null {
  const locked = session.status === 'BLOCKED' && session.reasonCode === 'TOO_MANY_ATTEMPTS';
  return locked ? personBlocked(session.blockedUntil) : refusalOf(session, attemptId);
}
