import type { Replied } from '../../kernel/vendor-reply.js';
import type {
  AnswerVerdict,
  KbaQuestion,
  ReauthenticationVerdict,
  ResendVerdict,
} from '../../ports/identity-vendor.js';
import type { QuestionShape } from '../domain/challenge.js';
import type { Verdict } from '../domain/verdict.js';

/** A verdict of the identity vendor within a challenge. */
export type VendorVerdict = Replied & (ReauthenticationVerdict | AnswerVerdict | ResendVerdict);

/** The parts of the verdict that the domain needs. */
export function withoutSecrets(verdict: VendorVerdict): Verdict {
  switch (verdict.kind) {
    case 'step-up':
      return { kind: 'step-up', otp: verdict.otp, questions: shapesOf(verdict.kba) };
    case 'wrong':
      return { kind: 'wrong', attemptsRemaining: verdict.attemptsRemaining };
    case 'locked':
      return { kind: 'locked', unblockAt: verdict.unblockAt };
    case 'refused':
      return { kind: 'refused', reason: verdict.reason };
    default:
      return { kind: verdict.kind };
  }
}

export function shapesOf(questions: readonly KbaQuestion[] | null): readonly QuestionShape[] {
  return (questions ?? []).map(({ id, answers }) => ({ questionId: id, answerCount: answers.length }));
}
