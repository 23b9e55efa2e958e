import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict, ReauthenticationVerdict, ResendVerdict } from '../../../ports/identity-vendor.js';
import type { Attempt, PartyState } from '../domain/party.js';
import { party, type PartyVerdict } from '../domain/party-decider.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets } from './party-secrets.js';

type Verdict = (ReauthenticationVerdict | AnswerVerdict | ResendVerdict) & { readonly reply?: VendorReply };

/** Turns what the vendor said into facts of the party: its answer and its session are in the vault before the log says so. */
@Injectable()
export class ReauthenticationRecorder {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: PartySecrets,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async record(partyId: string, attempt: Attempt, verdict: Verdict, context: ActionContext): Promise<void> {
    const { attemptId, subjectId } = attempt;
    const { kind, reply = null } = verdict;
    const kept = [
      kind === 'timed-out'
        ? 'kept'
        : await this.secrets.keepAnswer(subjectId, partyId, 'reauthentication', { attemptId, kind, reply }),
      kind === 'step-up' ? await this.secrets.keepChallenge(subjectId, partyId, verdict.vendorSession) : 'kept',
    ];
    const said: PartyVerdict = kept.includes('erased') ? { kind: 'over', cause: 'PERSON_ERASED' } : meaningOf(verdict);
    const { state } = await this.aggregates.execute(
      party,
      partyId,
      { kind: 'record-verdict', now: this.clock.now(), attemptId, verdict: said, policy: this.policy.lock },
      context,
    );
    await this.forgetIfOver(partyId, subjectId, state);
  }

  /** The vault keeps no more than an open challenge needs. */
  async forgetIfOver(partyId: string, subjectId: string, { challenge, attempt }: PartyState): Promise<void> {
    if (challenge === null && attempt === null) await this.secrets.forgetChallenge(subjectId, partyId);
  }
}

/** The parts that the domain decides by. */
function meaningOf(verdict: Verdict): PartyVerdict {
  switch (verdict.kind) {
    case 'step-up': {
      const questions = (verdict.kba ?? []).map(({ id, answers }) => ({ questionId: id, answerCount: answers.length }));
      return { kind: 'challenged', otp: verdict.otp, questions };
    }
    case 'wrong':
      return { kind: 'wrong', attemptsRemaining: verdict.attemptsRemaining };
    case 'locked':
      return { kind: 'locked', unblockAt: verdict.unblockAt };
    case 'session-over':
      return { kind: 'over', cause: 'VENDOR_SESSION_OVER' };
    case 'refused':
    case 'refused-otherwise':
      return { kind: 'over', cause: 'VENDOR_REFUSED' };
    case 'unintelligible':
      return { kind: 'over', cause: 'VENDOR_UNINTELLIGIBLE' };
    case 'confirmed':
    case 'sent':
    case 'unavailable':
    case 'timed-out':
      return { kind: verdict.kind };
    default:
      return verdict satisfies never;
  }
}
