// The vendor's wire format: writes requests, reads and checks answers. identity.ts uses it.
import * as v from 'valibot';
import type { FieldName } from '../../kernel/field-names.js';
import type {
  AnswerVerdict,
  Applicant,
  Device,
  ExpiryVerdict,
  NoVerdict,
  PastOutcome,
  ReauthenticationVerdict,
  RefusedInput,
  RegistrationVerdict,
  ResendVerdict,
  StandingVerdict,
} from '../../ports/identity-vendor.js';
import { type VendorAnswer, answerOf, isTurnedAway } from '../../vendor-kit/http/answer.js';
import { listOf, read, text, whole } from '../../vendor-kit/reading.js';
import { callVerdictOf, errorOf, upstreamCode, withReply } from './dialect.js';
import { WRONG_ANSWER_CODES, verdictOfCode } from './identity-codes.js';

type Refusal = Exclude<RegistrationVerdict, { kind: 'confirmed' | 'step-up' | 'under-review' | 'needs-user' }>;
type RegistrationOnly = 'input-refused' | 'report-expired' | 'product-not-enabled';

const UNAVAILABLE = { kind: 'unavailable' } as const;
const TIMED_OUT = { kind: 'timed-out' } as const;
const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

/** The refused input for each field name of `registrationBody`. */
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

/** The service's field for each name on the wire. */
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

const token = v.pipe(v.string(), v.minLength(1), v.maxLength(4_000));
const count = whole(0, Number.MAX_SAFE_INTEGER);
const question = v.object({
  id: count,
  text,
  answers: v.pipe(
    listOf(v.object({ id: count, text }), 20),
    v.minLength(1),
    // Browsers show the answers in this order and return the position, so the position must equal the id.
    v.checkItems((answer, place) => answer.id === place + 1),
  ),
});
const questions = v.pipe(
  listOf(question, 20),
  v.minLength(1),
  v.check((all) => new Set(all.map(({ id }) => id)).size === all.length),
);

const confirmed = v.object({ success: v.literal(true), userAuthenticated: v.literal(true), UserToken: token });
/** The challenge for a person whose identity was not confirmed at once. */
const challenge = v.pipe(
  v.object({
    success: v.literal(true),
    userAuthenticated: v.literal(false),
    authSession: token,
    otpEnabled: v.boolean(),
    kiqEnabled: v.boolean(),
    kba: v.nullable(v.object({ questions })),
  }),
  v.check(({ otpEnabled, kiqEnabled, kba }) => (kba !== null) === kiqEnabled && (otpEnabled || kiqEnabled)),
  v.transform(({ authSession, otpEnabled, kba }) => ({
    vendorSession: authSession,
    otp: otpEnabled,
    kba: kba?.questions ?? null,
  })),
);
const duplicates = v.object({ duplicateGuard: v.optional(v.boolean()) });
const notAuthenticated = v.object({ userAuthenticated: v.literal(false) });
const wrongAnswer = v.object({ attemptsRemaining: v.nullish(count, null) });
const codeSent = v.object({ success: v.literal(true), userAuthenticated: v.literal(false) });
const authenticatedAgain = v.object({ success: v.literal(true), userAuthenticated: v.literal(true) });
const standing = v.object({ authenticated: v.boolean() });
const past = v.variant('state', [
  v.object({ state: v.picklist(['not-executed', 'in-progress']) }),
  v.object({
    state: v.literal('executed'),
    operation: v.picklist(['registration', 'otp', 'kba', 'reauthentication', 'otp-resend']),
    answer: v.object({ status: v.number(), body: v.string() }),
  }),
]);
const locked = v.object({
  unblockAt: v.pipe(
    v.string(),
    v.transform((said) => new Date(said)),
    v.date(),
  ),
});

/** Omits absent data, so that the vendor reports the missing fields itself. */
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

/** The body contains the token, because proxies log addresses. */
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

const sessionNamed = v.object({ authSession: token });

/** Null for an answer that repeats no session. */
export function authSessionIn({ status, body }: VendorAnswer): string | null {
  return status === 200 ? (read(sessionNamed, body)?.authSession ?? null) : null;
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

/** Accepts any text about an ended authentication, even an empty text or a plain word. */
export function readExpiry(answer: VendorAnswer): ExpiryVerdict {
  const expired: ExpiryVerdict = answer.text === null ? UNINTELLIGIBLE : { kind: 'expired' };
  return withReply(answer.status === 200 ? expired : refusedOtherwise(answer), answer, FIELDS);
}

function registrationVerdict(answer: VendorAnswer): RegistrationVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null) return refusal;
  const guarded = read(duplicates, answer.body);
  if (guarded === null) return UNINTELLIGIBLE;
  const guard = guarded.duplicateGuard === true ? ({ duplicateGuard: true } as const) : {};
  const outright = read(confirmed, answer.body);
  if (outright !== null) return { kind: 'confirmed', vendorSession: outright.UserToken, ...guard };
  const asked = read(challenge, answer.body);
  return asked === null ? UNINTELLIGIBLE : { kind: 'step-up', ...asked, ...guard };
}

/** A reply about a wrong answer has status 422 like many refusals, but no error number. */
function answerVerdict(answer: VendorAnswer): AnswerVerdict {
  const { status, body } = answer;
  if (status === 422 && upstreamCode(answer) === null && read(notAuthenticated, body) !== null) {
    const wrong = read(wrongAnswer, body);
    return wrong === null ? UNINTELLIGIBLE : { kind: 'wrong', ...wrong };
  }
  const refusal = readRefusal(answer);
  if (refusal !== null)
    return WRONG_ANSWER_CODES.has(upstreamCode(answer) ?? NaN)
      ? { kind: 'wrong', attemptsRemaining: null }
      : answerable(refusal);
  const right = read(confirmed, body);
  return right === null ? UNINTELLIGIBLE : { kind: 'confirmed', personToken: right.UserToken };
}

function resendVerdict(answer: VendorAnswer): ResendVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null) return answerable(refusal);
  return read(codeSent, answer.body) === null ? UNINTELLIGIBLE : { kind: 'sent' };
}

function reauthenticationVerdict(answer: VendorAnswer): ReauthenticationVerdict {
  const refusal = readRefusal(answer);
  if (refusal !== null)
    return isRegistrationOnly(refusal) || refusal.kind === 'unintelligible' ? refusedOtherwise(answer) : refusal;
  if (read(authenticatedAgain, answer.body) !== null) return { kind: 'confirmed' };
  const asked = read(challenge, answer.body);
  return asked === null ? UNINTELLIGIBLE : { kind: 'step-up', ...asked };
}

function standingVerdict(answer: VendorAnswer): StandingVerdict {
  if (answer.status !== 200) return refusedOtherwise(answer);
  const said = read(standing, answer.body);
  return said === null ? UNINTELLIGIBLE : { kind: 'standing', ...said };
}

/** The verdict of an answer that is not a success, for calls whose errors need no action of the service. */
function refusedOtherwise(answer: VendorAnswer): { readonly kind: 'refused-otherwise' } | NoVerdict {
  const { status, text } = answer;
  if (readRefusal(answer)?.kind === 'unavailable') return UNAVAILABLE;
  return text === null || status < 400 ? UNINTELLIGIBLE : { kind: 'refused-otherwise' };
}

export function readOutcome(answer: VendorAnswer): PastOutcome {
  if (answer.status !== 200) return isTurnedAway(answer.status) ? UNAVAILABLE : UNINTELLIGIBLE;
  const said = read(past, answer.body);
  if (said === null) return UNINTELLIGIBLE;
  if (said.state !== 'executed') return said.state === 'in-progress' ? TIMED_OUT : { kind: 'not-executed' };
  const then = answerOf(said.answer.status, said.answer.body);
  switch (said.operation) {
    case 'registration':
      return { kind: 'registration', verdict: readRegistration(then) };
    case 'otp':
    case 'kba':
      return { kind: 'answer', verdict: readAnswer(then) };
    case 'reauthentication':
      return { kind: 'reauthentication', verdict: readReauthentication(then) };
    case 'otp-resend':
      return { kind: 'resend', verdict: readResend(then) };
    default:
      return said.operation satisfies never;
  }
}

/** The verdict of an error; null for a success. The vendor's number has priority over the HTTP status. */
function readRefusal(answer: VendorAnswer): Refusal | null {
  if (answer.status === 200) return null;
  const { status, body } = answer;
  const code = upstreamCode(answer);
  if (code !== null) {
    const verdict = verdictOfCode(code) ?? UNINTELLIGIBLE;
    return verdict.kind === 'input-refused'
      ? { ...verdict, input: named(verdict.input, errorOf(answer).field) }
      : verdict;
  }
  if (status === 423 && read(notAuthenticated, body) !== null)
    return { kind: 'locked', unblockAt: read(locked, body)?.unblockAt.toISOString() ?? null };
  return callVerdictOf(answer) ?? UNINTELLIGIBLE;
}

/** The field of the registration that the vendor names. Used when the vendor's number does not stand for a field. */
function named(input: RefusedInput, field: unknown): RefusedInput {
  return (input === 'format' || input === 'unspecified') && typeof field === 'string'
    ? (INPUTS.get(field) ?? input)
    : input;
}

/** Some refusals of a registration cannot be the result of a step-up answer. */
function answerable(refusal: Refusal): Exclude<Refusal, { kind: RegistrationOnly }> {
  return isRegistrationOnly(refusal) ? UNINTELLIGIBLE : refusal;
}

function isRegistrationOnly(refusal: Refusal): refusal is Extract<Refusal, { kind: RegistrationOnly }> {
  return (
    refusal.kind === 'input-refused' || refusal.kind === 'report-expired' || refusal.kind === 'product-not-enabled'
  );
}
