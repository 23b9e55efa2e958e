import { Injectable } from '@nestjs/common';
import { ChallengeCall } from '../../../challenges/application/challenge-call.js';
import type { ChallengeHolder, Held } from '../../../challenges/application/challenge-holder.js';
import { ChallengeRecorder } from '../../../challenges/application/challenge-recorder.js';
import type { VendorVerdict } from '../../../challenges/application/vendor-verdict.js';
import type { AnswerLimit } from '../../../challenges/domain/answer-limit.js';
import { isAnswer, type Count } from '../../../challenges/domain/verdict.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { KnownPersons } from '../../../published/known-persons.js';
import type { Attempt, PartyState } from '../domain/party.js';
import { countOf, operationOf, party } from '../domain/party-decider.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';
import { PartySecrets } from './party-secrets.js';

/** The challenges that parties answer in a re-authentication. */
@Injectable()
export class PartyChallenges implements ChallengeHolder<PartyState> {
  readonly decider = party;
  readonly limit: AnswerLimit;

  constructor(
    private readonly references: PartyReferences,
    private readonly secrets: PartySecrets,
    private readonly persons: KnownPersons,
    policy: PartyPolicy,
  ) {
    this.limit = policy.lock;
  }

  read({ attempt }: PartyState): Held | null {
    if (attempt === null) return null;
    const { subjectId, vendor } = attempt;
    const operation = operationOf(attempt);
    const personIds = isAnswer(operation) ? (attempt.personIds ?? []) : [];
    return { subjectId, vendor, personIds, call: { ...attempt, operation } };
  }

  count(state: PartyState, now: Date): Count {
    return countOf(state, now, this.limit);
  }

  async tokenOf(partyId: string, { attempt }: PartyState): Promise<string | null> {
    if (attempt === null) return null;
    return operationOf(attempt) === null
      ? this.references.tokenOf(partyId, attempt)
      : this.secrets.challenge(attempt.subjectId, partyId);
  }

  async keep(
    partyId: string,
    { attempt }: PartyState,
    verdict: VendorVerdict,
    context: ActionContext,
  ): Promise<'kept' | 'erased'> {
    if (attempt === null) return 'kept';
    const { attemptId, subjectId } = attempt;
    const kept = [await this.secrets.keepAnswer(attempt, partyId, attemptId, verdict)];
    if (verdict.kind === 'step-up') {
      const { vendorSession, kba: questions } = verdict;
      kept.push(await this.secrets.keepChallenge(subjectId, partyId, { vendorSession, questions }));
    }
    if ('personToken' in verdict && verdict.personToken !== undefined)
      await this.keepToken(partyId, attempt, verdict.personToken, context);
    return kept.includes('erased') ? 'erased' : 'kept';
  }

  async prune(partyId: string, { challenge, attempt }: PartyState, subjectId: string): Promise<void> {
    if (challenge === null && attempt === null) await this.secrets.forgetChallenge(subjectId, partyId);
  }

  /** From now on the vendor knows the party by this token. The token is not kept when another token was stored for the party in the meantime. */
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
}

@Injectable()
export class ReauthenticationCall extends ChallengeCall<PartyState, AnswerLimit> {
  // Jobs of earlier releases have other names, and the inputs of these jobs have no kind. The recovery job settles the attempts of such jobs.
  override readonly operation = 'partyChallenge';

  constructor(
    protected override readonly holder: PartyChallenges,
    aggregates: AggregateStore,
    identityVendor: IdentityVendor,
    recorder: ChallengeRecorder,
  ) {
    super(aggregates, identityVendor, recorder);
  }
}
