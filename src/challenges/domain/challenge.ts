// A challenge is a one-time code or a set of questions that a person must answer. The holder of a challenge is a screening session or a party. The
// holders have states and events of their own, and share the rules in this file.
import { DomainError, fieldError, type DomainErrorDetail } from '../../kernel/domain-error.js';

/** The number of further codes in one challenge (docs/contract/platform.md#resending-a-code). */
export const MAX_RESENDS = 5;

const CODE = /^[0-9]{4,8}$/;

/** A call that will be made to the vendor next. */
export interface NewAttempt {
  readonly now: Date;
  readonly attemptId: string;
  readonly settleAfter: Date;
  readonly giveUpAfter: Date;
}

/**
 * A call to the vendor that was requested. The recovery job asks the vendor about it from `settleAfter` on, and ends it from
 * `giveUpAfter` on. Times are ISO 8601 UTC.
 */
export interface Requested {
  readonly attemptId: string;
  readonly settleAfter: string;
  readonly giveUpAfter: string;
}

/** The kinds of calls within a challenge. */
export type Operation = 'otp' | 'kba' | 'otp-resend';

/** The id of a question and the number of its answers. These numbers are enough to check an answer's form without the texts. */
export interface QuestionShape {
  readonly questionId: number;
  readonly answerCount: number;
}

/** One chosen answer. Answer ids are 1 to n in the order in which the person sees them. */
export interface KbaAnswer {
  readonly questionId: number;
  readonly answerId: number;
}

export interface Challenge {
  /** Whether codes may be sent and answered. */
  readonly otp: boolean;
  readonly questions: readonly QuestionShape[];
  readonly smsSentAt: string | null;
  /** The number of further codes that were sent. */
  readonly resends: number;
}

export type AskCommand =
  | (NewAttempt & { readonly kind: 'answer-otp'; readonly code: unknown })
  | (NewAttempt & { readonly kind: 'answer-kba'; readonly answers: unknown })
  | (NewAttempt & { readonly kind: 'resend-otp'; readonly intervalSeconds: number });

/** An answer as it arrived, or a request for another code. */
export type GivenAnswer =
  | { readonly method: 'otp'; readonly code: unknown }
  | { readonly method: 'kba'; readonly answers: unknown }
  | { readonly method: 'resend' };

/** `intervalSeconds` is the shortest time between two codes. */
export function askCommand(given: GivenAnswer, attempt: NewAttempt, intervalSeconds: number): AskCommand {
  switch (given.method) {
    case 'otp':
      return { kind: 'answer-otp', ...attempt, code: given.code };
    case 'kba':
      return { kind: 'answer-kba', ...attempt, answers: given.answers };
    case 'resend':
      return { kind: 'resend-otp', ...attempt, intervalSeconds };
    default:
      return given satisfies never;
  }
}

/**
 * The request to the vendor. Throws if the challenge refuses the command, which uses up no attempt. `busy` is the detail of the refusal while
 * another call is at the vendor, and null otherwise. A second answer at the same time could exceed the limit.
 */
export function request(command: AskCommand, challenge: Challenge, busy: DomainErrorDetail | null): Requested {
  if (command.kind === 'answer-kba') refuseUnusableAnswers(command.answers, challenge);
  else if (!challenge.otp) throw new DomainError('screening.otp_unusable', { rule: 'Codes are not offered.' });
  if (command.kind === 'answer-otp' && !(typeof command.code === 'string' && CODE.test(command.code)))
    throw fieldError('screening.otp_unusable', 'otp.code', 'must have four to eight digits');
  if (busy) throw new DomainError('screening.attempt_in_progress', busy);
  if (command.kind === 'resend-otp') refuseResend(command, challenge);
  return requested(command);
}

export function requested({ attemptId, settleAfter, giveUpAfter }: NewAttempt): Requested {
  return { attemptId, settleAfter: settleAfter.toISOString(), giveUpAfter: giveUpAfter.toISOString() };
}

/** The given answer in ids, for a caller who gives one position for each question. */
export function answerBy(
  given: Exclude<GivenAnswer, { method: 'kba' }> | { readonly method: 'kba'; readonly positions: readonly unknown[] },
  questions: readonly QuestionShape[],
): GivenAnswer {
  if (given.method !== 'kba') return given;
  const answers = given.positions.map((answerId, at) => ({ questionId: questions[at]?.questionId, answerId }));
  return { method: 'kba', answers };
}

/** Whether each question has exactly one of its offered answers, in any order. */
export function areAnswersTo(questions: readonly QuestionShape[], answers: unknown): answers is readonly KbaAnswer[] {
  if (!Array.isArray(answers) || answers.length !== questions.length) return false;
  const open = new Map(questions.map((question) => [question.questionId, question.answerCount]));
  return answers.every((answer: unknown) => {
    if (typeof answer !== 'object' || answer === null) return false;
    const { questionId, answerId } = answer as { questionId?: unknown; answerId?: unknown };
    if (typeof questionId !== 'number' || typeof answerId !== 'number' || !Number.isInteger(answerId)) return false;
    const count = open.get(questionId);
    return count !== undefined && open.delete(questionId) && answerId >= 1 && answerId <= count;
  });
}

function refuseUnusableAnswers(answers: unknown, { questions }: Challenge): void {
  if (questions.length === 0) throw new DomainError('screening.kba_unusable', { rule: 'Questions are not offered.' });
  if (!areAnswersTo(questions, answers))
    throw fieldError(
      'screening.kba_unusable',
      'kba.answers',
      'must have exactly one of the offered answers to each open question',
    );
}

function refuseResend(
  { now, intervalSeconds }: Extract<AskCommand, { kind: 'resend-otp' }>,
  { resends, smsSentAt }: Challenge,
): void {
  if (resends >= MAX_RESENDS) throw new DomainError('screening.too_many_resends');
  const waitMs = new Date(smsSentAt ?? 0).getTime() + intervalSeconds * 1_000 - now.getTime();
  if (waitMs > 0)
    throw new DomainError('screening.resend_too_early', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
}
