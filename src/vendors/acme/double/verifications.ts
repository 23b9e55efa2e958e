// The verifications of acme: their states, their challenges, and the decisions of people.
import type { Answer } from '../../../vendor-kit/double/call-record.js';
import { linkBody } from './income-checks.js';
import { type Method, type Persona, personaNamed } from './personas.js';
import { Problem, problemBody } from './problems.js';

/** The journal's entry, without personal data. Times are milliseconds since 1970. */
export interface Verification {
  readonly id: string;
  readonly persona: string;
  /** The client's name for the verification. */
  readonly reference: string | null;
  readonly startedAt: number;
  readonly wrongAnswers: number;
  readonly lockedUntil: number | null;
  /** The person answered correctly, or people decided. */
  readonly decided: 'approved' | 'declined' | null;
  /** The link to the page for the person. */
  readonly link?: { readonly token: string; readonly until: number };
}

export interface Pace {
  /** The milliseconds for which a slow verification is in progress. */
  readonly slowMs: number;
  /** The milliseconds for which nothing is answered about a verification that hangs. */
  readonly hangsMs: number;
}

const ATTEMPTS = 3;
const LOCK_MS = 86_400_000;
export const REVIEW_MS = 172_800_000;
const RIGHT_CODE = '123456';

const question = (key: string, text: string, options: readonly string[]): Question => ({
  key,
  text,
  options: options.map((option, place) => ({ key: `${key}.${String.fromCharCode(97 + place)}`, text: option })),
});
interface Question {
  readonly key: string;
  readonly text: string;
  readonly options: readonly { readonly key: string; readonly text: string }[];
}
/** The right answers are the first option, the second and the third. */
const QUESTIONS: readonly Question[] = [
  question('street', 'On which street have you lived?', [
    'Alder Street',
    'Birch Avenue',
    'Cedar Lane',
    'None of these',
  ]),
  question('lender', 'Which bank has lent you money?', [
    'Sample Bank',
    'Example Bank',
    'Specimen Bank',
    'None of these',
  ]),
  question('county', 'In which county is your last address?', ['Sample', 'Specimen', 'Example', 'None of these']),
];
const RIGHT_ANSWERS: Readonly<Record<string, string>> = { street: 'street.a', lender: 'lender.b', county: 'county.c' };

/** `hangs`: the double gives no answer about the verification yet. */
export type State =
  'processing' | 'hangs' | 'approved' | 'declined' | 'challenge' | 'manual_review' | 'awaiting_person' | 'failed';

export function stateOf(verification: Verification, now: number, { slowMs, hangsMs }: Pace): State {
  const { decided, startedAt } = verification;
  if (decided !== null) return decided;
  const persona = personaNamed(verification.persona);
  switch (persona.is) {
    case 'approved':
      if (persona.pace === 'hangs' && now < startedAt + hangsMs) return 'hangs';
      return persona.pace === 'slow' && now < startedAt + slowMs ? 'processing' : 'approved';
    case 'challenged':
      return 'challenge';
    case 'documented':
      return 'awaiting_person';
    case 'reviewed':
      return now < startedAt + REVIEW_MS ? 'manual_review' : persona.decision;
    case 'declined':
    case 'failed':
      return persona.is;
    case 'refused':
    case 'unanswered':
      throw new Error('Such a verification never begins');
    default:
      return persona satisfies never;
  }
}

/** `pages`: the address of the pages for persons. */
export function verificationBody(verification: Verification, state: Exclude<State, 'hangs'>, pages = ''): object {
  const { id, persona: name, startedAt, link } = verification;
  const persona = personaNamed(name);
  const body = { id, state };
  switch (state) {
    case 'processing':
      return body;
    case 'approved':
      return { ...body, score: { value: 912, model: 'Acme Identity 3' } };
    case 'declined':
      return { ...body, reasons: [persona.is === 'declined' ? persona.reason : 'identity_not_found'] };
    case 'challenge':
      return { ...body, challenge: challengeOf(methodsOf(persona)) };
    case 'manual_review':
      return { ...body, review: { usually_decided_by: new Date(startedAt + REVIEW_MS).toISOString() } };
    case 'awaiting_person':
      return { ...body, link: link && linkBody(link, pages) };
    case 'failed':
      return { ...body, problem: problemOf(persona) };
    default:
      return state satisfies never;
  }
}

function challengeOf(methods: readonly Method[]): object {
  return { methods, ...(methods.includes('questions') && { questions: QUESTIONS }) };
}

function problemOf(persona: Persona): object {
  if (persona.is !== 'failed') throw new Error('Only a failed verification has a problem');
  return problemBody(persona.code, persona.pointer === undefined ? {} : { pointer: persona.pointer });
}

export function methodsOf(persona: Persona): readonly Method[] {
  return persona.is === 'challenged' ? persona.methods : [];
}

export interface Given {
  readonly code?: string;
  readonly answers?: Readonly<Record<string, string>>;
}

/** The verification after an answer, and the answer to it. Throws for a verification that takes none. */
export function judge(
  verification: Verification,
  given: Given,
  now: number,
): { readonly verification: Verification; readonly answer: Answer } {
  checkOpen(verification, now, given.code === undefined ? 'questions' : 'one_time_code');
  if (isRight(given)) {
    const approved: Verification = { ...verification, decided: 'approved' };
    return { verification: approved, answer: { status: 200, body: verificationBody(approved, 'approved') } };
  }
  const wrongAnswers = verification.wrongAnswers + 1;
  const persona = personaNamed(verification.persona);
  const left = persona.is === 'challenged' && persona.strict ? 0 : ATTEMPTS - wrongAnswers;
  const after = { ...verification, wrongAnswers, lockedUntil: left > 0 ? null : now + LOCK_MS };
  const body =
    after.lockedUntil === null
      ? problemBody(given.code === undefined ? 'answers_incorrect' : 'code_incorrect', { attempts_left: left })
      : problemBody('verification_locked', { unlocks_at: new Date(after.lockedUntil).toISOString() });
  return { verification: after, answer: { status: body.status, body } };
}

/** Throws if the verification takes no answers with this method. When a lock ends, the verification has ended. */
export function checkOpen({ persona, decided, lockedUntil }: Verification, now: number, method: Method): void {
  const methods = methodsOf(personaNamed(persona));
  if (decided !== null || methods.length === 0 || (lockedUntil !== null && now >= lockedUntil))
    throw new Problem('verification_closed');
  if (lockedUntil !== null)
    throw new Problem('verification_locked', { unlocks_at: new Date(lockedUntil).toISOString() });
  if (!methods.includes(method)) throw new Problem('method_not_offered');
}

function isRight({ code, answers = {} }: Given): boolean {
  if (code !== undefined) return code === RIGHT_CODE;
  checkKeys(answers);
  return Object.entries(RIGHT_ANSWERS).every(([key, option]) => answers[key] === option);
}

/** Every question must be answered with one of its own options. */
function checkKeys(answers: Readonly<Record<string, string>>): void {
  const isKnown = Object.entries(answers).every(([key, chosen]) =>
    QUESTIONS.some((one) => one.key === key && one.options.some((option) => option.key === chosen)),
  );
  if (!isKnown || Object.keys(answers).length !== QUESTIONS.length)
    throw new Problem('malformed_request', { pointer: '/answers' });
}
