// What the vendor decides: a registration by its persona, a step-up answer by its session, a report by its person. Pure but for the new tokens.
import type { Answer } from '../../../vendor-kit/double/call-record.js';
import type { ErrorBody } from '../../../vendor-kit/double/sandbox-part.js';
import { type Persona, personaNamed } from './personas.js';
import { type IdentityExecution, type Person, type Session, newSession, newUserToken, personOf } from './record.js';
import { reportBody } from './report.js';
import { QUESTIONS, type Question } from './step-up.js';
import type { Subject } from './subject.js';
import { UNLISTED_CODE, UPSTREAM_CODES } from './upstream-codes.js';

const LOCK_MS = 24 * 3_600_000;
const SESSION_OVER = 710;
const NOT_AUTHENTICATED = 9010;
const SSN_AND_DOB_REQUIRED = 9018;

export type Method = 'otp' | 'kba';

/** Which call an answer belongs to, in the words of its body; the key of the call. */
type Reference = string;

/** The body of every answer about an identity, a refusal excepted. */
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
  persona: Exclude<Persona, { reaction: 'fault' }>,
  subject: Subject,
  reference: Reference,
): IdentityExecution {
  switch (persona.reaction) {
    case 'confirm': {
      const guard = persona.duplicateGuard ? { duplicateGuard: true as const } : {};
      return confirmed(newSession({ persona: persona.name, over: true, subject }), reference, guard);
    }
    case 'step-up': {
      const session = newSession({ persona: persona.name, over: persona.expired === true, subject });
      return { effect: { session }, answer: { status: 200, body: challenge(session, reference) } };
    }
    case 'refuse':
      return { answer: refusal(persona.code) };
    default:
      return persona satisfies never;
  }
}

/** Whether an answer by this method, or a resend, can concern the session at all. An unknown session is simply over. */
export function offers(session: Session | null, method: Method): boolean {
  if (session === null) return true;
  const persona = personaNamed(session.persona);
  return persona.reaction !== 'step-up' || persona[method];
}

/** `attempts`: wrong answers until a session is locked. */
export function judge(
  session: Session | null,
  right: boolean,
  { now, attempts, reference }: { readonly now: number; readonly attempts: number; readonly reference: Reference },
): IdentityExecution {
  const closed = closedAnswer(session, now, reference);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  if (right) return confirmed(session, reference);
  const persona = personaNamed(session.persona);
  const wrongAnswers = session.wrongAnswers + 1;
  const attemptsRemaining = persona.reaction === 'step-up' && !persona.strict ? attempts - wrongAnswers : 0;
  if (attemptsRemaining > 0) {
    const body = { ...challenge(session, reference), success: false, attemptsRemaining };
    return { effect: { session: { ...session, wrongAnswers } }, answer: { status: 422, body } };
  }
  const lockedUntil = now + LOCK_MS;
  const locked = { ...session, wrongAnswers, lockedUntil };
  return { effect: { session: locked }, answer: lockedAnswer(locked, lockedUntil, reference) };
}

export function resend(session: Session | null, now: number, reference: Reference): IdentityExecution {
  const closed = closedAnswer(session, now, reference);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  return { answer: { status: 200, body: challenge(session, reference) } };
}

/** Only a report that was given out is billed. `session`: what the token names when it names nobody. */
export function pullReport(person: Person | null, session: Session | null, now: number): IdentityExecution {
  if (person === null) return { answer: refusal(session === null ? SESSION_OVER : NOT_AUTHENTICATED) };
  const { file, score, fileCode } = person.subject;
  const persona = personaNamed(person.persona);
  const condition = persona.reaction === 'confirm' ? persona.file : undefined;
  if (fileCode !== null) return { answer: refusal(fileCode) };
  if (typeof condition === 'number') return { answer: refusal(condition) };
  if (score === null) return { answer: refusal(SSN_AND_DOB_REQUIRED) };
  const body = reportBody({ file, score: condition === 'thin' ? null : score, today: new Date(now) });
  return { billed: true, answer: { status: 200, body } };
}

function confirmed(
  session: Session,
  reference: Reference,
  more: Pick<IdentityBody, 'duplicateGuard'> = {},
): IdentityExecution {
  const userToken = newUserToken(session);
  const body: IdentityBody = {
    success: true,
    userAuthenticated: true,
    UserToken: userToken,
    authSession: session.token,
    ...nothingOffered(reference),
    ...more,
  };
  return {
    effect: { session: { ...session, over: true, userToken }, person: personOf(session, userToken) },
    answer: { status: 200, body },
  };
}

function challenge(session: Session, reference: Reference): IdentityBody {
  const persona = personaNamed(session.persona);
  const { otp, kba } = persona.reaction === 'step-up' ? persona : { otp: false, kba: false };
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

/** The answer of a session that takes no answers, null when it takes them. After its lock a session is over. */
function closedAnswer(session: Session | null, now: number, reference: Reference): Answer | null {
  if (session === null || session.over) return refusal(SESSION_OVER);
  const { lockedUntil } = session;
  if (lockedUntil === null) return null;
  return now < lockedUntil ? lockedAnswer(session, lockedUntil, reference) : refusal(SESSION_OVER);
}

function lockedAnswer(session: Session, until: number, reference: Reference): Answer {
  const persona = personaNamed(session.persona);
  const told = persona.reaction === 'step-up' && persona.strict === true;
  const body: IdentityBody = {
    success: false,
    userAuthenticated: false,
    authSession: session.token,
    ...nothingOffered(reference),
    ...(told ? { unblockAt: new Date(until).toISOString() } : {}),
  };
  return { status: 423, body };
}

function nothingOffered(
  reference: Reference,
): Pick<IdentityBody, 'otpEnabled' | 'kiqEnabled' | 'clientReferenceId' | 'kba' | 'crossCoreFullResponse'> {
  return { otpEnabled: false, kiqEnabled: false, clientReferenceId: reference, kba: null, crossCoreFullResponse: null };
}

export function refusal(code: number): Answer {
  const { status, message } = UPSTREAM_CODES[code] ?? UNLISTED_CODE;
  return { status, body: { error: { code, message } } satisfies ErrorBody };
}
