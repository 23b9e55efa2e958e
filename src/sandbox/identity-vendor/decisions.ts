// What the vendor decides: a registration by its persona, a step-up answer by its session. Pure but for the new token.
import type { ErrorBody } from '../server.js';
import { type Persona, personaNamed } from './personas.js';
import { type Answer, type Execution, type Session, newSession } from './record.js';
import { QUESTIONS } from './step-up.js';
import { UNLISTED_CODE, UPSTREAM_CODES } from './upstream-codes.js';

const LOCK_MS = 24 * 3_600_000;
const SESSION_OVER = 710;
const ATTEMPTS_EXCEEDED = 2501;

export type Method = 'otp' | 'kba';

export function register(persona: Exclude<Persona, { reaction: 'fault' }>): Execution {
  switch (persona.reaction) {
    case 'confirm': {
      const session = newSession(persona.name, true);
      return { session, answer: ok({ outcome: 'confirmed', sessionToken: session.token, ...(persona.duplicateGuard ? { duplicateGuard: true } : {}) }) };
    }
    case 'step-up': {
      const session = newSession(persona.name, persona.expired === true);
      const kba = persona.kba ? { questions: QUESTIONS } : null;
      return { session, answer: ok({ outcome: 'step-up', sessionToken: session.token, otp: persona.otp, kba }) };
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

export function judge(session: Session | null, right: boolean, now: number): Execution {
  const closed = closedAnswer(session, now);
  if (session === null || closed !== null) return { answer: closed ?? refusal(SESSION_OVER) };
  if (right) return { session: { ...session, over: true }, answer: ok({ outcome: 'confirmed' }) };
  const persona = personaNamed(session.persona);
  const wrongAnswers = session.wrongAnswers + 1;
  const attemptsRemaining = persona.reaction === 'step-up' ? persona.lockAfter - wrongAnswers : 0;
  if (attemptsRemaining > 0) return { session: { ...session, wrongAnswers }, answer: ok({ outcome: 'wrong', attemptsRemaining }) };
  const lockedUntil = now + LOCK_MS;
  return { session: { ...session, wrongAnswers, lockedUntil }, answer: locked(lockedUntil) };
}

export function resend(session: Session | null, now: number): Execution {
  return { answer: closedAnswer(session, now) ?? ok({ outcome: 'sent' }) };
}

/** The answer of a session that takes no answers, null when it takes them. After its lock a session is over. */
function closedAnswer(session: Session | null, now: number): Answer | null {
  if (session === null || session.over) return refusal(SESSION_OVER);
  if (session.lockedUntil === null) return null;
  return now < session.lockedUntil ? locked(session.lockedUntil) : refusal(SESSION_OVER);
}

function locked(until: number): Answer {
  return refusal(ATTEMPTS_EXCEEDED, { unblockAt: new Date(until).toISOString() });
}

function ok(body: object): Answer {
  return { status: 200, body };
}

export function refusal(code: number, more: { readonly unblockAt?: string } = {}): Answer {
  const { status, message } = UPSTREAM_CODES[code] ?? UNLISTED_CODE;
  return { status, body: { error: { code, message, ...more } } satisfies ErrorBody };
}
