import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict, ReauthenticationVerdict, ResendVerdict } from '../../../ports/identity-vendor.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { KnownPersons, type KnownAnswer } from '../../../published/known-persons.js';
import type { Attempt, PartyState } from '../domain/party.js';
import { isAnswer, lockBy, party, type PartyVerdict } from '../domain/party-decider.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets } from './party-secrets.js';

type Verdict = (ReauthenticationVerdict | AnswerVerdict | ResendVerdict) & { readonly reply?: VendorReply };

/**
 * Turns what the vendor said into facts of the party: its answer and its session are in the vault before the log says so. What an answer was
 * counts against the person before the party, whose attempt is open until then: the recovery job makes up for what dies in between.
 */
@Injectable()
export class ReauthenticationRecorder {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: PartySecrets,
    private readonly persons: KnownPersons,
    private readonly limiter: RateLimiter,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async record(partyId: string, attempt: Attempt, verdict: Verdict, context: ActionContext): Promise<void> {
    const { attemptId, subjectId } = attempt;
    const { kind, reply = null } = verdict;
    const kept = [
      kind === 'timed-out' ? 'kept' : await this.secrets.keepAnswer(subjectId, partyId, attemptId, { kind, reply }),
      kind === 'step-up' ? await this.secrets.keepChallenge(subjectId, partyId, verdict.vendorSession) : 'kept',
    ];
    const said: PartyVerdict = kept.includes('erased') ? { kind: 'over', cause: 'PERSON_ERASED' } : meaningOf(verdict);
    if ('personToken' in verdict && verdict.personToken !== undefined)
      await this.keepToken(partyId, attempt, verdict.personToken, context);
    const policy = this.policy.lock;
    const lockedUntil = await this.count(partyId, attempt, said, context);
    const { state } = await this.aggregates.execute(
      party,
      partyId,
      { kind: 'record-verdict', now: this.clock.now(), attemptId, verdict: said, policy, lockedUntil },
      context,
    );
    // The caller may have been answered before that was known.
    if (kind === 'unavailable') await this.limiter.giveBackSetAside(attemptId);
    await this.forgetIfOver(partyId, subjectId, state);
  }

  /** By which the vendor knows the party from now on, unless another token was stored for it meanwhile. */
  private async keepToken(
    partyId: string,
    { sessionId, subjectId, personIds = [] }: Attempt,
    token: string,
    context: ActionContext,
  ): Promise<void> {
    if (sessionId !== null) return this.persons.keepToken(sessionId, token);
    const stored = await this.secrets.token(subjectId, partyId);
    const ids = stored === null ? [] : await this.persons.idsOf(null, stored, context);
    if (ids.some((id) => personIds.includes(id))) await this.secrets.keepToken(subjectId, partyId, token);
  }

  /** The vendor never saw the call. */
  async notExecuted(partyId: string, attempt: Attempt, context: ActionContext): Promise<PartyState> {
    const { attemptId, personIds = [] } = attempt;
    if (isAnswer(attempt)) await this.persons.clear(personIds, this.answer(partyId, attempt, context));
    const command = { kind: 'abandon', attemptId, cause: 'NOT_EXECUTED' } as const;
    return (await this.aggregates.execute(party, partyId, command, context)).state;
  }

  /** The end of the lock that holds for the person after this answer; null without one, and for what is no answer. */
  private async count(
    partyId: string,
    attempt: Attempt,
    said: PartyVerdict,
    context: ActionContext,
  ): Promise<string | null> {
    const { personIds = [] } = attempt;
    if (!isAnswer(attempt) || said.kind === 'timed-out') return null;
    const answer = this.answer(partyId, attempt, context);
    if (said.kind !== 'wrong' && said.kind !== 'locked') return this.persons.clear(personIds, answer);
    const { state } = await this.aggregates.load(party, partyId);
    return this.persons.countWrong(personIds, answer, lockBy(said, state, this.clock.now(), this.policy.lock));
  }

  private answer(partyId: string, { attemptId }: Attempt, context: ActionContext): KnownAnswer {
    return { partyId, attemptId, limit: this.policy.lock, context };
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
