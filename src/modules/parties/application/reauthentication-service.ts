// What asking for a challenge, answering it and asking for another code have in common: they are answered from what was recorded.
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

  /** Throws what the party and the limits refuse. An attempt that the party knows already is not made again: it is answered as it was. */
  async take(
    { partyId, loaded }: Pick<FoundParty, 'partyId' | 'loaded'>,
    command: Reserving,
    { sessionId, subjectId, vendor, personIds = [] }: Reference,
    input: CallInput,
    context: CallerContext,
  ): Promise<PartyAnswer> {
    if (!loaded.state.attemptIds.includes(command.attemptId)) {
      const blockedUntil = await this.counts.lockedUntil(personIds);
      if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
      party.decide(command, loaded.state);
      await this.admitAccount(context);
      // Throws while the vault is away: what the vendor says could not be kept, so nothing is reserved.
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

  /** Live traffic of an account that is not provisioned for it reaches no vendor. */
  async admitAccount({ accountId, environment }: CallerContext): Promise<void> {
    const account = await this.accounts.find(accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (!this.accounts.mayReachVendors(account, environment)) throw new DomainError('account.not_live');
  }

  private async outcome(partyId: string, attemptId: string, subjectId: string): Promise<PartyAnswer> {
    const { state } = await this.aggregates.load(party, partyId);
    if (state.attempt?.attemptId === attemptId) throw new DomainError('service.upstream_timeout');
    const said = await this.secrets.answer(subjectId, partyId, attemptId);
    // It was settled without an answer, or what was said is not kept any more, or the person was erased.
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
