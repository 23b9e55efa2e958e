// What asking for a challenge, answering it and asking for another code have in common: reserve the attempt, have it made, and
// answer from what was recorded.
import { Injectable } from '@nestjs/common';
import type { ExternalCall } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import { lockAt, type Reference } from '../domain/party.js';
import { party, type PartyCommand } from '../domain/party-decider.js';
import type { FoundParty } from './party-access.js';
import { accepted, failureBy, lockedBy, refusalBy, wrong, type PartyAnswer } from './party-answer.js';
import { PartySecrets } from './party-secrets.js';

type Reserving = Extract<PartyCommand, { kind: 'reauthenticate' | 'answer-otp' | 'answer-kba' | 'resend-otp' }>;

@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly accounts: Accounts,
    private readonly secrets: PartySecrets,
    private readonly clock: Clock,
  ) {}

  /** Throws what the party refuses. An attempt that the party knows already is not made again: it is answered as it was. */
  async take<Input>(
    { partyId, loaded }: Pick<FoundParty, 'partyId' | 'loaded'>,
    command: Reserving,
    { subjectId, vendor }: Reference,
    [call, input]: readonly [ExternalCall<Input>, Input],
    context: CallerContext,
  ): Promise<PartyAnswer> {
    const { attemptId, settleAfter } = command;
    if (party.decide(command, loaded.state).length > 0) {
      await this.admitAccount(context);
      const attempt = { id: partyId, attemptId, subject: subjectId, context, vendor, settleAfter };
      await this.calls.admit(call, attempt);
      let reserved = false;
      try {
        const known = await this.aggregates.execute(party, partyId, command, context, loaded);
        reserved = known.events.length > 0;
      } finally {
        if (!reserved) await this.calls.withdraw(call, attempt);
      }
      if (reserved) await this.calls.make(call, attempt, input);
    }
    return this.outcome(partyId, attemptId, subjectId);
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
    const said = await this.secrets.answer(subjectId, partyId, 'reauthentication');
    // It was settled without an answer, or another call has followed, or the person was erased.
    if (said?.attemptId !== attemptId) throw new DomainError('party.no_challenge');
    const { kind, reply } = said;
    const lockedUntil = lockAt(state, this.clock.now());
    if ((kind === 'wrong' || kind === 'locked') && lockedUntil !== null)
      throw lockedBy(reply, 'reauthentication', lockedUntil);
    switch (kind) {
      case 'confirmed':
      case 'step-up':
      case 'sent':
        return accepted(reply, subjectId);
      case 'wrong':
        return wrong(reply, subjectId);
      case 'unavailable':
      case 'unintelligible':
        throw failureBy(reply, 'reauthentication');
      default:
        throw refusalBy(reply, 'reauthentication');
    }
  }
}
