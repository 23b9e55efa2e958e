// What the vendor decides: a registration by its persona, a step-up answer or a report by its session. Pure but for the new token.
import type { Answer } from '../../../vendor-kit/double/call-record.js';
import type { ErrorBody } from '../../../vendor-kit/double/sandbox-part.js';
import { type Persona, personaNamed } from './personas.js';
import { type IdentityExecution, type Session, newSession } from './record.js';
import { reportBody } from './report.js';
import { QUESTIONS } from './step-up.js';
import type { Subject } from './subject.js';
import { UNLISTED_CODE, UPSTREAM_CODES } from './upstream-codes.js';

const LOCK_MS = 24 * 3_600_000;
const SESSION_OVER = 710;
const ATTEMPTS_EXCEEDED = 2501;
const NOT_AUTHENTICATED = 9010;
const SSN_AND_DOB_REQUIRED = 9018;

export type Method = 'otp' | 'kba';

export function register(persona: Exclude<Persona, { reaction: 'fault' }>, subject: Subject): IdentityExecution {
  switch (persona.reaction) {
    case 'confirm': {
      const session = newSession({ persona: persona.name, over: true, verified: true, subject });
      return {
        effect: { session },
        answer: ok({
          outcome: 'confirmed',
          sessionToken: session.token,
          ...(persona.duplicateGuard ? { duplicateGuard: true } : {}),
        }),
      };
    }
    case 'step-up': {
      const session = newSession({ persona: persona.name, over: persona.expired === true, verified: false, subject });
      const kba = persona.kba ? { questions: QUESTIONS } : null;
      return {
        effect: { session },
        answer: ok({ outcome: 'step-up', sessionToken: session.token, otp: persona.otp, kba }),
      };
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
export function judge(session: Session | null, right: boolean, now: number, attempts: number): IdentityExecution {
  const closed = closedAnswer(session, now);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  if (right)
    return { effect: { session: { ...session, over: true, verified: true } }, answer: ok({ outcome: 'confirmed' }) };
  const persona = personaNamed(session.persona);
  const wrongAnswers = session.wrongAnswers + 1;
  const attemptsRemaining = persona.reaction === 'step-up' && !persona.strict ? attempts - wrongAnswers : 0;
  if (attemptsRemaining > 0)
    return { effect: { session: { ...session, wrongAnswers } }, answer: ok({ outcome: 'wrong', attemptsRemaining }) };
  const lockedUntil = now + LOCK_MS;
  return { effect: { session: { ...session, wrongAnswers, lockedUntil } }, answer: locked(persona, lockedUntil) };
}

export function resend(session: Session | null, now: number): IdentityExecution {
  return { answer: closedAnswer(session, now) ?? ok({ outcome: 'sent' }) };
}

/** Only a report that was given out is billed. */
export function pullReport(session: Session | null, now: number): IdentityExecution {
  if (session === null) return { answer: refusal(SESSION_OVER) };
  if (!session.verified) return { answer: refusal(NOT_AUTHENTICATED) };
  const { file, score, fileCode } = session.subject;
  const persona = personaNamed(session.persona);
  const condition = persona.reaction === 'confirm' ? persona.file : undefined;
  if (fileCode !== null) return { answer: refusal(fileCode) };
  if (typeof condition === 'number') return { answer: refusal(condition) };
  if (score === null) return { answer: refusal(SSN_AND_DOB_REQUIRED) };
  return {
    billed: true,
    answer: ok(reportBody({ file, score: condition === 'thin' ? null : score, today: new Date(now) })),
  };
}

/** The answer of a session that takes no answers, null when it takes them. After its lock a session is over. */
function closedAnswer(session: Session | null, now: number): Answer | null {
  if (session === null || session.over) return refusal(SESSION_OVER);
  if (session.lockedUntil === null) return null;
  return now < session.lockedUntil ? locked(personaNamed(session.persona), session.lockedUntil) : refusal(SESSION_OVER);
}

function locked(persona: Persona, until: number): Answer {
  const told = persona.reaction === 'step-up' && persona.strict === true;
  return refusal(ATTEMPTS_EXCEEDED, told ? { unblockAt: new Date(until).toISOString() } : {});
}

function ok(body: object): Answer {
  return { status: 200, body };
}

export function refusal(code: number, more: { readonly unblockAt?: string } = {}): Answer {
  const { status, message } = UPSTREAM_CODES[code] ?? UNLISTED_CODE;
  return { status, body: { error: { code, message, ...more } } satisfies ErrorBody };
}
