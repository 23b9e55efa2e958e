import type { Replied } from '../../kernel/vendor-reply.js';
import type { AnswerVerdict, ReauthenticationVerdict, ResendVerdict } from '../../ports/identity-vendor.js';
import type { Verdict } from '../domain/verdict.js';

/** A verdict of the identity vendor within a challenge. */
export type VendorVerdict = Replied & (ReauthenticationVerdict | AnswerVerdict | ResendVerdict);

/** The parts of the verdict that the domain needs. */
export function withoutSecrets(verdict: VendorVerdict): Verdict {
  switch (verdict.kind) {
    case 'step-up': {
      const questions = (verdict.kba ?? []).map(({ id, answers }) => ({ questionId: id, answerCount: answers.length }));
      return { kind: 'step-up', otp: verdict.otp, questions };
    }
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
