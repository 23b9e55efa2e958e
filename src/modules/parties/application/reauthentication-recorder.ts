import { Injectable } from '@nestjs/common';
import { isAnswer, lockBy, type Standing, type Verdict as Said } from '../../../challenges/domain/verdict.js';
import { withoutSecrets, type VendorVerdict } from '../../../challenges/application/vendor-verdict.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { KnownPersons, type KnownAnswer } from '../../../published/known-persons.js';
import type { Attempt, PartyState } from '../domain/party.js';
import { countOf, operationOf, party } from '../domain/party-decider.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets } from './party-secrets.js';

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

  async record(partyId: string, attempt: Attempt, verdict: VendorVerdict, context: ActionContext): Promise<void> {
    const { attemptId, subjectId } = attempt;
    const { kind, reply = null } = verdict;
    const kept = [
      kind === 'timed-out' ? 'kept' : await this.secrets.keepAnswer(subjectId, partyId, attemptId, { kind, reply }),
      kind === 'step-up' ? await this.secrets.keepChallenge(subjectId, partyId, verdict.vendorSession) : 'kept',
    ];
    const said: Said = kept.includes('erased') ? { kind: 'person-erased' } : withoutSecrets(verdict);
    if ('personToken' in verdict && verdict.personToken !== undefined)
      await this.keepToken(partyId, attempt, verdict.personToken, context);
    const policy = this.policy.lock;
    const standing = await this.count(partyId, attempt, said, context);
    const { state } = await this.aggregates.execute(
      party,
      partyId,
      { kind: 'record-verdict', now: this.clock.now(), attemptId, verdict: said, policy, standing },
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
    if (isAnswer(operationOf(attempt))) await this.persons.clear(personIds, this.answer(partyId, attempt, context));
    const command = { kind: 'record-not-executed', attemptId } as const;
    return (await this.aggregates.execute(party, partyId, command, context)).state;
  }

  /** Null for what is no answer. */
  private async count(partyId: string, attempt: Attempt, said: Said, context: ActionContext): Promise<Standing | null> {
    const { personIds = [] } = attempt;
    if (!isAnswer(operationOf(attempt)) || said.kind === 'timed-out') return null;
    const answer = this.answer(partyId, attempt, context);
    if (said.kind !== 'wrong' && said.kind !== 'locked') return this.persons.clear(personIds, answer);
    const { state } = await this.aggregates.load(party, partyId);
    const [now, { lock: limit }] = [this.clock.now(), this.policy];
    return this.persons.countWrong(personIds, answer, lockBy(said, now, limit, countOf(state, now, limit)));
  }

  private answer(partyId: string, { attemptId }: Attempt, context: ActionContext): KnownAnswer {
    return { partyId, attemptId, limit: this.policy.lock, context };
  }

  /** The vault keeps no more than an open challenge needs. */
  async forgetIfOver(partyId: string, subjectId: string, { challenge, attempt }: PartyState): Promise<void> {
    if (challenge === null && attempt === null) await this.secrets.forgetChallenge(subjectId, partyId);
  }
}
