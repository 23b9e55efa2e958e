// The vendor's decisions: a registration by its persona, a step-up answer by its session, a report by its person. Pure, apart from new tokens.
import type { Answer } from '../../../vendor-kit/double/call-record.js';
import type { ErrorBody } from '../../../vendor-kit/double/sandbox-part.js';
import { type Persona, personaNamed } from './personas.js';
import {
  type IdentityExecution,
  type Methods,
  type Person,
  type Session,
  newSession,
  newUserToken,
  personOf,
} from './record.js';
import { reportBody } from './report.js';
import { QUESTIONS, type Question } from './step-up.js';
import { type Subject, codeAt } from './subject.js';
import { UNLISTED_CODE, UPSTREAM_CODES } from './upstream-codes.js';

const LOCK_MS = 24 * 3_600_000;
const SESSION_OVER = 710;
const INVALID_REQUEST = 1004;
const NOT_AUTHENTICATED = 9010;
const SSN_AND_DOB_REQUIRED = 9018;
/** The numbers of a frozen and of a blocked file. A control of the sandbox can remove both states. */
const LOCKS: ReadonlySet<number> = new Set([9116, 9132]);
/** The whole answer when an authentication is ended. */
const EXPIRED = 'EXPIRED';

export type Method = keyof Methods;

/** The time and the key of the call that is decided. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `clientReferenceId` of the answer: the key of the call. */
  readonly reference: string;
}

/** The body of every answer about an identity, except refusals. */
interface IdentityBody {
  readonly success: boolean;
  readonly userAuthenticated: boolean;
  readonly UserToken?: string;
  readonly authSession: string;
  readonly otpEnabled: boolean;
  readonly kiqEnabled: boolean;
  readonly clientReferenceId: string;
  readonly kba: { readonly sessionId: string; readonly questions: readonly Question[] } | null;
  readonly crossCoreFullResponse: null;
  readonly duplicateGuard?: true;
  readonly attemptsRemaining?: number;
  readonly unblockAt?: string;
}

export function register(
  persona: Exclude<Persona, { behaviour: 'fault' }>,
  subject: Subject,
  moment: Moment,
): IdentityExecution {
  switch (persona.behaviour) {
    case 'confirm': {
      const guard = persona.duplicateGuard ? { duplicateGuard: true as const } : {};
      return confirmed(newSession({ persona: persona.name, over: true, subject }), moment, guard);
    }
    case 'step-up': {
      const session = newSession({ persona: persona.name, over: persona.expired === true, subject });
      return { effect: { session }, answer: { status: 200, body: challenge(session, moment) } };
    }
    case 'refuse':
      return { answer: refusal(persona.code) };
    default:
      return persona satisfies never;
  }
}

/** Whether the session offers this method of answering. An unknown session counts as ended, so the result is true for it. */
export function offers(session: Session | null, method: Method): boolean {
  return session === null || methodsOf(session)?.[method] !== false;
}

/** Always requires a challenge, even while the old authentication is still valid. */
export function reauthenticate(person: Person, moment: Moment): IdentityExecution {
  const { persona, subject, token: userToken } = person;
  const code = codeAt('auth', subject);
  if (code !== null) return { answer: refusalToAuthenticate(code) };
  const methods =
    subject.userType === 'PMC' ? { otp: false, kba: true } : (challengeOf(persona) ?? { otp: true, kba: false });
  const session = newSession({ persona, over: false, subject, userToken, methods });
  return { effect: { session }, answer: { status: 200, body: challenge(session, moment) } };
}

/** `validityMs`: the time for which an authentication is valid. */
export function standing({ authenticatedAt }: Person, now: number, validityMs: number): Answer {
  const endsAt = authenticatedAt === null ? null : authenticatedAt + validityMs;
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    status: 200,
    body: {
      authenticated: endsAt !== null && now < endsAt,
      authenticatedAt: time(authenticatedAt),
      expiresAt: time(endsAt),
    },
  };
}

export function expire(person: Person): IdentityExecution {
  return { effect: { person: { ...person, authenticatedAt: null } }, answer: { status: 200, body: EXPIRED } };
}

/** `attempts`: the number of wrong answers that locks a session. */
export function judge(session: Session | null, right: boolean, attempts: number, moment: Moment): IdentityExecution {
  const closed = closedAnswer(session, moment);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  const code = codeAt(session.methods === undefined ? 'answers' : 'auth-answers', session.subject);
  if (code !== null) return { answer: refusal(code) };
  if (right) return confirmed(session, moment);
  const wrongAnswers = session.wrongAnswers + 1;
  const attemptsRemaining = isStrict(session) ? 0 : attempts - wrongAnswers;
  if (attemptsRemaining > 0) {
    const body = { ...challenge(session, moment), success: false, attemptsRemaining };
    return { effect: { session: { ...session, wrongAnswers } }, answer: { status: 422, body } };
  }
  const lockedUntil = moment.now + LOCK_MS;
  const locked = { ...session, wrongAnswers, lockedUntil };
  return { effect: { session: locked }, answer: lockedAnswer(locked, lockedUntil, moment) };
}

export function resend(session: Session | null, moment: Moment): IdentityExecution {
  const closed = closedAnswer(session, moment);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  const code = codeAt('resend', session.subject);
  return { answer: code === null ? { status: 200, body: challenge(session, moment) } : refusal(code) };
}

/** Only a released report is billed. `session`: the token's session, when it belongs to no person. `bornOn`: null if the birth date is invented. */
export function pullReport(
  person: Person | null,
  session: Session | null,
  bornOn: string | null,
  now: number,
): IdentityExecution {
  if (person === null) return { answer: refusal(session === null ? SESSION_OVER : NOT_AUTHENTICATED) };
  const { file, score } = person.subject;
  const [code] = conditionsOf(person);
  if (code !== undefined) return { answer: refusal(code) };
  if (score === null) return { answer: refusal(SSN_AND_DOB_REQUIRED) };
  const body = reportBody({
    file,
    score: fileOf(person) === 'thin' ? null : score,
    today: new Date(now),
    bornOn,
    shows: confirming(person)?.shows,
  });
  return { billed: true, answer: { status: 200, body } };
}

/** The person after the freeze or block of their file was removed; null if the file has neither. */
export function lifted(person: Person): Person | null {
  if (!conditionsOf(person).some((code) => LOCKS.has(code))) return null;
  return { ...person, subject: { ...person.subject, lifted: true } };
}

/** The numbers with which the file answers instead of a report. The answer has the first of these numbers. */
function conditionsOf(person: Person): readonly number[] {
  const { subject } = person;
  return [codeAt('report', subject), fileOf(person)].filter(
    (code): code is number => typeof code === 'number' && !(subject.lifted && LOCKS.has(code)),
  );
}

function fileOf(person: Person): number | 'thin' | undefined {
  return confirming(person)?.file;
}

function confirming({ persona: name }: Person): Extract<Persona, { behaviour: 'confirm' }> | null {
  const persona = personaNamed(name);
  return persona.behaviour === 'confirm' ? persona : null;
}

function confirmed(
  session: Session,
  moment: Moment,
  more: Pick<IdentityBody, 'duplicateGuard'> = {},
): IdentityExecution {
  const userToken = session.userToken ?? newUserToken(session);
  const body: IdentityBody = {
    success: true,
    userAuthenticated: true,
    UserToken: userToken,
    authSession: session.token,
    ...nothingOffered(moment),
    ...more,
  };
  return {
    effect: { session: { ...session, over: true, userToken }, person: personOf(session, userToken, moment.now) },
    answer: { status: 200, body },
  };
}

/** The methods that the session offers; null for a session that never accepted answers. */
function methodsOf(session: Session): Methods | null {
  return session.methods ?? challengeOf(session.persona);
}

/** The challenge for a person with this name at a registration; null if the person gets none. */
function challengeOf(name: string): Methods | null {
  const persona = personaNamed(name);
  return persona.behaviour === 'step-up' ? { otp: persona.otp, kba: persona.kba } : null;
}

function isStrict(session: Session): boolean {
  const persona = personaNamed(session.persona);
  return persona.behaviour === 'step-up' && persona.strict === true;
}

function challenge(session: Session, { reference }: Moment): IdentityBody {
  const { otp, kba } = methodsOf(session) ?? { otp: false, kba: false };
  return {
    success: true,
    userAuthenticated: false,
    authSession: session.token,
    otpEnabled: otp,
    kiqEnabled: kba,
    clientReferenceId: reference,
    kba: kba ? { sessionId: session.token, questions: QUESTIONS } : null,
    crossCoreFullResponse: null,
  };
}

/** The answer of a closed session; null for an open session. When its lock ends, the session has ended. */
function closedAnswer(session: Session | null, moment: Moment): Answer | null {
  if (session === null || session.over) return refusal(SESSION_OVER);
  const { lockedUntil } = session;
  if (lockedUntil === null) return null;
  return moment.now < lockedUntil ? lockedAnswer(session, lockedUntil, moment) : refusal(SESSION_OVER);
}

function lockedAnswer(session: Session, until: number, moment: Moment): Answer {
  const body: IdentityBody = {
    success: false,
    userAuthenticated: false,
    authSession: session.token,
    ...nothingOffered(moment),
    ...(isStrict(session) ? { unblockAt: new Date(until).toISOString() } : {}),
  };
  return { status: 423, body };
}

function nothingOffered({
  reference,
}: Moment): Pick<IdentityBody, 'otpEnabled' | 'kiqEnabled' | 'clientReferenceId' | 'kba' | 'crossCoreFullResponse'> {
  return { otpEnabled: false, kiqEnabled: false, clientReferenceId: reference, kba: null, crossCoreFullResponse: null };
}

export function refusal(code: number, field?: string): Answer {
  const { status, message } = UPSTREAM_CODES[code] ?? UNLISTED_CODE;
  return { status, body: { error: { code, message, ...(field === undefined ? {} : { field }) } } satisfies ErrorBody };
}

/** In this answer the number has another status, because the caller made the mistake. */
export function refusalToAuthenticate(code: number, field?: string): Answer {
  const answer = refusal(code, field);
  return code === INVALID_REQUEST ? { ...answer, status: 400 } : answer;
}
