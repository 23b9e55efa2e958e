// The vendor's wire format: requests written, answers read and checked. Used by http.ts only.
import type { FieldName } from '../../kernel/field-names.js';
import type {
  AnswerVerdict,
  Applicant,
  Device,
  ExpiryVerdict,
  KbaQuestion,
  NoVerdict,
  PastOutcome,
  ReauthenticationVerdict,
  RefusedInput,
  RegistrationVerdict,
  ResendVerdict,
  StandingVerdict,
} from '../../ports/identity-vendor.js';
import {
  type VendorAnswer,
  answerOf,
  errorOf,
  isRecord,
  turnedAway,
  upstreamCode,
  withReply,
} from '../../vendor-kit/answer.js';
import { WRONG_ANSWER_CODES, verdictOfCode } from './identity-codes.js';

type DomainError = Exclude<RegistrationVerdict, { kind: 'confirmed' | 'step-up' }>;
type Challenge = Pick<Extract<RegistrationVerdict, { kind: 'step-up' }>, 'vendorSession' | 'otp' | 'kba'>;
type RegistrationOnly = 'input-refused' | 'report-expired' | 'product-not-enabled';

const UNAVAILABLE = { kind: 'unavailable' } as const;
const TIMED_OUT = { kind: 'timed-out' } as const;
const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

/** By the names of `registrationBody`. */
const INPUTS: ReadonlyMap<string, RefusedInput> = new Map([
  ['firstName', 'first-name'],
  ['middleName', 'middle-name'],
  ['lastName', 'last-name'],
  ['dateOfBirth', 'date-of-birth'],
  ['ssn', 'ssn'],
  ['phone.number', 'phone'],
  ['email', 'email'],
  ['companyName', 'company-name'],
  ['address.street', 'address'],
  ['address.city', 'city'],
  ['address.state', 'state'],
  ['address.zip', 'zip'],
  ['device.jsc', 'device'],
]);

/** What callers call them. */
const FIELDS: ReadonlyMap<unknown, FieldName> = new Map([
  ['userType', 'person.userType'],
  ['firstName', 'person.firstName'],
  ['middleName', 'person.middleName'],
  ['lastName', 'person.lastName'],
  ['dateOfBirth', 'person.birthDate'],
  ['ssn', 'person.ssn'],
  ['phone.number', 'person.phone'],
  ['email', 'person.email'],
  ['companyName', 'person.companyName'],
  ['address.street', 'address.street'],
  ['address.city', 'address.city'],
  ['address.state', 'address.state'],
  ['address.zip', 'address.postalCode'],
  ['device.jsc', 'device.fingerprint'],
  ['device.hdim', 'device.fingerprint'],
  ['ipAddress', 'device.ipAddress'],
  ['code', 'otp.code'],
  ['answers', 'kba.answers'],
]);

const MAX_QUESTIONS = 20;
const MAX_ANSWERS = 20;
const MAX_TEXT = 500;
const MAX_TOKEN = 4_000;

/** What was not given is left out: the vendor says what it misses. */
export function registrationBody(applicant: Applicant): object {
  const { address, jscPayload, hdimPayload, phoneNumber, phoneType, ...rest } = applicant;
  return {
    userType: rest.userType,
    firstName: rest.firstName,
    middleName: rest.middleName,
    lastName: rest.lastName,
    dateOfBirth: rest.dateOfBirth,
    ssn: rest.ssn,
    phone: { number: phoneNumber, type: phoneType },
    email: rest.email,
    companyName: rest.companyName,
    mothersMaidenName: rest.mothersMaidenName,
    spouseName: rest.spouseName,
    propertyZip: rest.propertyZip,
    productId: rest.productId,
    address,
    ipAddress: rest.ipAddress,
    device: { jsc: jscPayload, hdim: hdimPayload },
    termsAcceptedAt: rest.termsAcceptedAt,
  };
}

export function personBody(personToken: string): object {
  return { userToken: personToken };
}

/** The token is in no address: those are written down by whatever the call passes. */
export function authenticationBody(
  personToken: string,
  { jscPayload, hdimPayload, ipAddress, address }: Partial<Device>,
): object {
  return {
    ...personBody(personToken),
    device: { jsc: jscPayload, hdim: hdimPayload },
    ipAddress,
    address,
  };
}

export function readRegistration(answer: VendorAnswer): RegistrationVerdict {
  return withReply(registrationVerdict(answer), answer, FIELDS);
}

export function readAnswer(answer: VendorAnswer): AnswerVerdict {
  return withReply(answerVerdict(answer), answer, FIELDS);
}

export function readResend(answer: VendorAnswer): ResendVerdict {
  return withReply(resendVerdict(answer), answer, FIELDS);
}

export function readReauthentication(answer: VendorAnswer): ReauthenticationVerdict {
  return withReply(reauthenticationVerdict(answer), answer, FIELDS);
}

export function readStanding(answer: VendorAnswer): StandingVerdict {
  return withReply(standingVerdict(answer), answer, FIELDS);
}

/** Whatever it says of an authentication that it has ended: it may be nothing, or a plain word. */
export function readExpiry(answer: VendorAnswer): ExpiryVerdict {
  const expired: ExpiryVerdict = answer.text === null ? UNINTELLIGIBLE : { kind: 'expired' };
  return withReply(answer.status === 200 ? expired : refusedOtherwise(answer), answer, FIELDS);
}

function registrationVerdict(answer: VendorAnswer): RegistrationVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null) return refusal;
  const { body } = answer;
  if (!isRecord(body) || body.success !== true) return UNINTELLIGIBLE;
  const { duplicateGuard } = body;
  if (duplicateGuard !== undefined && typeof duplicateGuard !== 'boolean') return UNINTELLIGIBLE;
  const guard = duplicateGuard === true ? { duplicateGuard } : {};
  if (body.userAuthenticated === true)
    return isToken(body.UserToken) ? { kind: 'confirmed', vendorSession: body.UserToken, ...guard } : UNINTELLIGIBLE;
  const asked = readChallenge(body);
  return asked === null ? UNINTELLIGIBLE : { kind: 'step-up', ...asked, ...guard };
}

/** A wrong answer is 422 like many a refusal, but has no number. */
function answerVerdict(answer: VendorAnswer): AnswerVerdict {
  const { status, body } = answer;
  if (status === 422 && isRecord(body) && body.userAuthenticated === false && upstreamCode(answer) === null) {
    const { attemptsRemaining = null } = body;
    if (attemptsRemaining !== null && !isCount(attemptsRemaining)) return UNINTELLIGIBLE;
    return { kind: 'wrong', attemptsRemaining };
  }
  const refusal = readRefusal(answer);
  if (refusal !== null)
    return WRONG_ANSWER_CODES.has(upstreamCode(answer) ?? NaN)
      ? { kind: 'wrong', attemptsRemaining: null }
      : answerable(refusal);
  if (!isRecord(body) || body.success !== true || body.userAuthenticated !== true) return UNINTELLIGIBLE;
  return isToken(body.UserToken) ? { kind: 'confirmed', personToken: body.UserToken } : UNINTELLIGIBLE;
}

function resendVerdict(answer: VendorAnswer): ResendVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null) return answerable(refusal);
  const { body } = answer;
  return isRecord(body) && body.success === true && body.userAuthenticated === false
    ? { kind: 'sent' }
    : UNINTELLIGIBLE;
}

function reauthenticationVerdict(answer: VendorAnswer): ReauthenticationVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null)
    return isRegistrationOnly(refusal) || refusal.kind === 'unintelligible' ? refusedOtherwise(answer) : refusal;
  const { body } = answer;
  if (!isRecord(body) || body.success !== true) return UNINTELLIGIBLE;
  if (body.userAuthenticated === true) return { kind: 'confirmed' };
  const asked = readChallenge(body);
  return asked === null ? UNINTELLIGIBLE : { kind: 'step-up', ...asked };
}

function standingVerdict(answer: VendorAnswer): StandingVerdict {
  if (answer.status !== 200) return refusedOtherwise(answer);
  const { body } = answer;
  if (!isRecord(body) || typeof body.authenticated !== 'boolean') return UNINTELLIGIBLE;
  return { kind: 'standing', authenticated: body.authenticated };
}

/** Of an answer that is no success and says nothing that the service could act by. */
function refusedOtherwise(answer: VendorAnswer): { readonly kind: 'refused-otherwise' } | NoVerdict {
  const { status, text } = answer;
  if (readRefusal(answer)?.kind === 'unavailable') return UNAVAILABLE;
  return text === null || status < 400 ? UNINTELLIGIBLE : { kind: 'refused-otherwise' };
}

/** What somebody is asked whose identity is not confirmed outright; null when it cannot be read, or is nothing. */
function readChallenge(body: Record<string, unknown>): Challenge | null {
  const { userAuthenticated, authSession, otpEnabled, kiqEnabled } = body;
  if (userAuthenticated !== false || !isToken(authSession)) return null;
  if (typeof otpEnabled !== 'boolean' || typeof kiqEnabled !== 'boolean') return null;
  const kba = body.kba === null ? null : readQuestions(body.kba);
  if (kba === 'unreadable' || (kba !== null) !== kiqEnabled || !(otpEnabled || kiqEnabled)) return null;
  return { vendorSession: authSession, otp: otpEnabled, kba };
}

export function readOutcome(answer: VendorAnswer): PastOutcome {
  const { status, body } = answer;
  if (status === 200 && isRecord(body)) {
    if (body.state === 'not-executed') return { kind: 'not-executed' };
    if (body.state === 'in-progress') return TIMED_OUT;
    if (body.state !== 'executed' || !isRecord(body.answer)) return UNINTELLIGIBLE;
    const { answer: then } = body;
    if (typeof then.status !== 'number' || typeof then.body !== 'string') return UNINTELLIGIBLE;
    const past = answerOf(then.status, then.body);
    if (body.operation === 'registration') return { kind: 'registration', verdict: readRegistration(past) };
    if (body.operation === 'otp' || body.operation === 'kba') return { kind: 'answer', verdict: readAnswer(past) };
    if (body.operation === 'reauthentication') return { kind: 'reauthentication', verdict: readReauthentication(past) };
    if (body.operation === 'otp-resend') return { kind: 'resend', verdict: readResend(past) };
    return UNINTELLIGIBLE;
  }
  return turnedAway(status) ? UNAVAILABLE : UNINTELLIGIBLE;
}

/** The verdict of an answer that is no success; null when it is one. The upstream's number says more than the status. */
function readRefusal(answer: VendorAnswer): DomainError | null {
  if (answer.status === 200) return null;
  const { status, body } = answer;
  const code = upstreamCode(answer);
  const error = errorOf(answer);
  if (code !== null) {
    const verdict = verdictOfCode(code) ?? UNINTELLIGIBLE;
    return verdict.kind === 'input-refused' ? { ...verdict, input: named(verdict.input, error.field) } : verdict;
  }
  if (status === 423 && isRecord(body) && body.userAuthenticated === false)
    return { kind: 'locked', unblockAt: readTime(body.unblockAt) };
  if (turnedAway(status) || error.code === 'key_closed') return UNAVAILABLE;
  return error.code === 'call_in_progress' ? TIMED_OUT : UNINTELLIGIBLE;
}

/** The field of the registration that the vendor names beside a code that stands for none. */
function named(input: RefusedInput, field: unknown): RefusedInput {
  return (input === 'format' || input === 'unspecified') && typeof field === 'string'
    ? (INPUTS.get(field) ?? input)
    : input;
}

/** What is refused of a registration makes no sense as the fate of a step-up answer. */
function answerable(refusal: DomainError): Exclude<DomainError, { kind: RegistrationOnly }> {
  return isRegistrationOnly(refusal) ? UNINTELLIGIBLE : refusal;
}

function isRegistrationOnly(refusal: DomainError): refusal is Extract<DomainError, { kind: RegistrationOnly }> {
  return (
    refusal.kind === 'input-refused' || refusal.kind === 'report-expired' || refusal.kind === 'product-not-enabled'
  );
}

function readQuestions(kba: unknown): KbaQuestion[] | 'unreadable' {
  if (!isRecord(kba) || !isList(kba.questions, MAX_QUESTIONS)) return 'unreadable';
  const questions: KbaQuestion[] = [];
  for (const question of kba.questions) {
    if (
      !isRecord(question) ||
      !isCount(question.id) ||
      !isText(question.text) ||
      !isList(question.answers, MAX_ANSWERS)
    )
      return 'unreadable';
    const answers: { id: number; text: string }[] = [];
    for (const [index, answer] of question.answers.entries()) {
      // Browsers show the answers in this order and send back the place: it must be the id.
      if (!isRecord(answer) || answer.id !== index + 1 || !isText(answer.text)) return 'unreadable';
      answers.push({ id: answer.id, text: answer.text });
    }
    questions.push({ id: question.id, text: question.text, answers });
  }
  return new Set(questions.map(({ id }) => id)).size === questions.length ? questions : 'unreadable';
}

function readTime(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function isList(value: unknown, most: number): value is unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= most;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT;
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TOKEN;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
