// The common part of three use cases: asking for a challenge, answering it, and asking for another code. Each answers from the record.
import { Injectable } from '@nestjs/common';
import type { CallInput } from '../../../challenges/application/challenge-call.js';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { lockAt } from '../../../challenges/domain/answer-limit.js';
import type { AskCommand } from '../../../challenges/domain/challenge.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { AnswerCounts } from '../../../published/answer-counts.js';
import { KnownPersons } from '../../../published/known-persons.js';
import type { Reference } from '../domain/party.js';
import { BUSY, party, type PartyCommand } from '../domain/party-decider.js';
import type { FoundParty } from './party-access.js';
import { accepted, failureBy, lockedBy, refusalBy, wrong, type PartyAnswer } from './party-answer.js';
import { PartyChallenges, ReauthenticationCall } from './party-challenges.js';
import { PartySecrets } from './party-secrets.js';

type Reserving = AskCommand | Extract<PartyCommand, { kind: 'reauthenticate' }>;

@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly challenges: ChallengeService,
    private readonly parties: PartyChallenges,
    private readonly call: ReauthenticationCall,
    private readonly accounts: Accounts,
    private readonly secrets: PartySecrets,
    private readonly counts: AnswerCounts,
    private readonly persons: KnownPersons,
    private readonly clock: Clock,
  ) {}

  /** Throws when the party or a limit refuses. An attempt that the party already knows is not made again, and gets its first answer. */
  async take(
    { partyId, loaded }: Pick<FoundParty, 'partyId' | 'loaded'>,
    { command, input }: { readonly command: Reserving; readonly input: CallInput },
    { sessionId, subjectId, vendor, personIds = [] }: Reference,
    context: CallerContext,
  ): Promise<PartyAnswer> {
    if (!loaded.state.attemptIds.includes(command.attemptId)) {
      const blockedUntil = await this.counts.lockedUntil(personIds);
      if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
      party.decide(command, loaded.state);
      await this.admitAccount(context);
      // This throws while the vault is unavailable. No attempt is reserved then, because the vendor's answer could not be kept.
      await this.secrets.isErased(subjectId);
      const sendsCode = input.kind === 'start' || input.kind === 'resend';
      const uses = sendsCode ? await this.persons.codesTo(sessionId, personIds, context) : [];
      const asked = { id: partyId, loaded, command, about: { subjectId, vendor, personIds }, uses, context };
      const asking = await this.challenges.ask(this.parties, this.call, asked, input);
      if (asking.kind === 'locked') throw new DomainError('party.locked', { blockedUntil: asking.lockedUntil });
      if (asking.kind === 'others-first') throw new DomainError('screening.attempt_in_progress', BUSY);
    }
    return this.outcome(partyId, command.attemptId, subjectId);
  }

  /** Throws for live traffic of an account that is not provisioned for it. Such traffic must not reach a vendor. */
  async admitAccount({ accountId, environment }: CallerContext): Promise<void> {
    const account = await this.accounts.find(accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (!this.accounts.mayReachVendors(account, environment)) throw new DomainError('account.not_live');
  }

  private async outcome(partyId: string, attemptId: string, subjectId: string): Promise<PartyAnswer> {
    const { state } = await this.aggregates.load(party, partyId);
    if (state.attempt?.attemptId === attemptId) throw new DomainError('service.upstream_timeout');
    const said = await this.secrets.answer(subjectId, partyId, attemptId);
    // The attempt was settled without an answer, or the answer is no longer kept, or the person was erased.
    if (said === null) throw new DomainError('party.no_challenge');
    const { kind, reply } = said;
    const lockedUntil = lockAt(state, this.clock.now());
    if ((kind === 'wrong' || kind === 'locked' || kind === 'confirmed') && lockedUntil !== null)
      throw lockedBy(reply, 'reauthentication', subjectId, lockedUntil);
    switch (kind) {
      case 'confirmed':
      case 'step-up':
      case 'sent':
        return accepted(reply, subjectId);
      case 'wrong':
        return wrong(reply, 'reauthentication', subjectId);
      case 'unavailable':
      case 'unintelligible':
        throw failureBy(reply, 'reauthentication', subjectId);
      default:
        throw refusalBy(reply, 'reauthentication', subjectId);
    }
  }
}
