// The wire format of acme's verifications: writes requests, and reads verdicts.
import * as v from 'valibot';
import type { Applicant } from '../../kernel/applicant.js';
import type {
  AnswerVerdict,
  KbaQuestion,
  NoVerdict,
  RefusalReason,
  RegistrationVerdict,
  ResendVerdict,
} from '../../ports/identity-vendor.js';
import { type Reader, type VendorAnswer, answerOf, readerOf } from '../../vendor-kit/http/answer.js';
import { instant, listOf, read, text, textLike, webAddress } from '../../vendor-kit/reading.js';
import type { Accepted, Settled } from './accepted.js';
import { personBody } from './person-wire.js';
import { answerProblem, challengeProblem, problemOf, registrationProblem } from './problems.js';

const UNINTELLIGIBLE = { kind: 'unintelligible' } as const;

/** People decide within two days. acme asks for at most one look an hour. */
const REVIEW_LOOK_SECONDS = 3_600;

const REASONS: Readonly<Record<string, RefusalReason>> = {
  deceased: 'DECEASED',
  sanctions_hit: 'SANCTIONS_MATCH',
  watchlist_hit: 'ALERT_LIST_MATCH',
  fraud_reported: 'FRAUD_REPORTED',
  minor: 'MINOR_CONSUMER',
  identity_not_found: 'IDENTITY_NOT_FOUND',
};

const id = textLike(/^ver_[0-9a-f]{32}$/);
const key = textLike(/^[a-z0-9._-]{1,60}$/);
const words = listOf(textLike(/^[a-z_]{1,60}$/), 20);
const question = v.object({
  key,
  text,
  options: v.pipe(listOf(v.object({ key, text }), 20), v.minLength(1)),
});
const challenge = v.pipe(
  v.object({
    methods: v.pipe(v.array(v.picklist(['one_time_code', 'questions'])), v.minLength(1)),
    questions: v.optional(v.pipe(listOf(question, 20), v.minLength(1))),
  }),
  v.check(({ methods, questions }) => methods.includes('questions') === (questions !== undefined)),
);
const verification = v.variant('state', [
  v.object({ id, state: v.literal('approved') }),
  v.object({ id, state: v.literal('declined'), reasons: words }),
  v.object({ id, state: v.literal('challenge'), challenge }),
  v.object({ id, state: v.literal('manual_review') }),
  v.object({ id, state: v.literal('awaiting_person'), link: v.object({ url: webAddress, expires_at: instant }) }),
  v.object({ id, state: v.literal('failed'), problem: v.unknown() }),
]);
const accepted = v.object({ id, state: v.literal('processing') });
const approved = v.object({ id, state: v.literal('approved') });
const sent = v.object({ sent: v.literal(true) });
const past = v.object({
  operation: v.picklist(['verification', 'code', 'answers', 'code_resend']),
  answer: v.object({ status: v.number(), body: v.unknown() }),
});

/** The key of each question, with the keys of its options in order. */
type Keys = readonly (readonly [question: string, options: readonly string[]])[];
const sessionContent = v.object({ id, keys: v.array(v.tuple([key, v.array(key)])) });

export type Session = v.InferOutput<typeof sessionContent>;

/** The service's session at acme. acme's keys are words, and the service's ids are places from 1, so the session remembers the keys. */
export function sessionText(id: string, keys: Keys = []): string {
  return JSON.stringify({ id, keys });
}

/** Null for a text that is not from `sessionText`. */
export function sessionOf(session: string): Session | null {
  return read(sessionContent, answerOf(200, session).body);
}

/** `reference`: the name that notices repeat. */
export function verificationBody(
  applicant: Applicant,
  facts: { readonly workflow: string; readonly reference: string | undefined },
): object {
  const { jscPayload, hdimPayload, ipAddress, termsAcceptedAt } = applicant;
  return {
    ...facts,
    person: personBody(applicant),
    device: { payload: jscPayload, second_payload: hdimPayload, ip: ipAddress },
    ...(termsAcceptedAt !== undefined && { consent: { given_at: termsAcceptedAt } }),
  };
}

/** An answer to a question that was not asked is left out, so that acme refuses the answers. */
export function answersBody(
  keys: Keys,
  answers: readonly { readonly questionId: number; readonly answerId: number }[],
): object {
  const chosen = answers.flatMap(({ questionId, answerId }) => {
    const [question, options = []] = keys[questionId - 1] ?? [];
    const option = options[answerId - 1];
    return question === undefined || option === undefined ? [] : [[question, option]];
  });
  return { answers: Object.fromEntries(chosen) as object };
}

export function verificationPath(id: string): string {
  return `/v1/verifications/${id}`;
}

/** acme has accepted the request, and has decided nothing yet. */
export const readAccepted = readerOf<Accepted | RegistrationVerdict>(
  { reader: ({ body }) => withProblem(body, registrationProblem) },
  ({ status, body, retryAfterSeconds }) => {
    const said = status === 202 ? read(accepted, body) : null;
    return said && { kind: 'accepted', path: verificationPath(said.id), firstLookAfter: retryAfterSeconds };
  },
);

export function isProcessing({ status, body }: VendorAnswer): boolean {
  return status === 200 && read(accepted, body) !== null;
}

export const readVerification = readerOf<Settled<RegistrationVerdict>>({}, ({ status, body }) => {
  const said = status === 200 ? read(verification, body) : null;
  return said && { kind: 'settled', verdict: verdictOf(said) };
});

export const readAnswer = readerOf<AnswerVerdict>(
  { reader: ({ body }) => withProblem(body, answerProblem) },
  ({ status, body }) => (status === 200 && read(approved, body) !== null ? { kind: 'confirmed' } : null),
);

export const readResend = readerOf<ResendVerdict>(
  { reader: ({ body }) => withProblem(body, challengeProblem) },
  ({ status, body }) => (status === 200 && read(sent, body) !== null ? { kind: 'sent' } : null),
);

/** The outcome of an earlier request. A verification may still be in progress. */
export type Past =
  | { readonly kind: 'verification'; readonly then: Accepted | RegistrationVerdict }
  | { readonly kind: 'answer'; readonly verdict: AnswerVerdict }
  | { readonly kind: 'resend'; readonly verdict: ResendVerdict }
  | { readonly kind: 'not-executed' };

/** `about`: reads the answer to a request about a known verification. */
export const pastReader = (about: <Verdict>(reader: Reader<Verdict>) => Reader<Verdict> = (reader) => reader) =>
  readerOf<Past>(
    { reader: ({ body }) => (problemOf(body)?.code === 'key_unknown' ? { kind: 'not-executed' } : null) },
    ({ body }) => {
      const said = read(past, body);
      if (said === null) return null;
      const then = answerOf(said.answer.status, JSON.stringify(said.answer.body));
      switch (said.operation) {
        case 'verification':
          return { kind: 'verification', then: readAccepted(then) };
        case 'code':
        case 'answers':
          return { kind: 'answer', verdict: about(readAnswer)(then) };
        case 'code_resend':
          return { kind: 'resend', verdict: about(readResend)(then) };
        default:
          return said.operation satisfies never;
      }
    },
  );

/** Exactly the word `approved` confirms a person. */
function verdictOf(said: v.InferOutput<typeof verification>): RegistrationVerdict {
  switch (said.state) {
    case 'approved':
      return { kind: 'confirmed', vendorSession: sessionText(said.id) };
    case 'declined': {
      const known = Object.keys(REASONS).find((reason) => said.reasons.includes(reason));
      const reason = known === undefined ? undefined : REASONS[known];
      return reason === undefined ? UNINTELLIGIBLE : { kind: 'refused', reason };
    }
    case 'challenge': {
      const { methods, questions = [] } = said.challenge;
      const keys = questions.map((one) => [one.key, one.options.map((option) => option.key)] as const);
      return {
        kind: 'step-up',
        vendorSession: sessionText(said.id, keys),
        otp: methods.includes('one_time_code'),
        kba: questions.length === 0 ? null : questions.map(asked),
      };
    }
    case 'manual_review':
      return { kind: 'under-review', vendorSession: sessionText(said.id), lookAgainAfter: REVIEW_LOOK_SECONDS };
    case 'awaiting_person': {
      const { url, expires_at: until } = said.link;
      return { kind: 'needs-user', vendorSession: sessionText(said.id), open: { url }, until };
    }
    case 'failed':
      return withProblem(said.problem, registrationProblem) ?? UNINTELLIGIBLE;
    default:
      return said satisfies never;
  }
}

function asked({ text, options }: v.InferOutput<typeof question>, place: number): KbaQuestion {
  return { id: place + 1, text, answers: options.map((option, at) => ({ id: at + 1, text: option.text })) };
}

function withProblem<Verdict>(
  body: unknown,
  verdict: (problem: NonNullable<ReturnType<typeof problemOf>>) => Verdict | NoVerdict,
): Verdict | NoVerdict | null {
  const problem = problemOf(body);
  return problem && verdict(problem);
}
