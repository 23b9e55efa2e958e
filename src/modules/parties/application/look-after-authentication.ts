import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { confirmedSince } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import { AskForStanding, EndAuthentication } from './authentication-calls.js';
import { PartyAccess, type FoundParty, type NamedParty } from './party-access.js';
import { decided, failureBy, type PartyAnswer } from './party-answer.js';
import { PartyReferences } from './party-references.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets, type Answered } from './party-secrets.js';
import { EXPIRED, standingAnswer } from './written-answer.js';

/**
 * Asks the vendor whether the authentication of the party is valid, or ends the authentication. In this service, the authentication ends at once,
 * even if the vendor's call fails.
 */
@UseCase()
export class LookAfterAuthentication extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      readonly asked: 'status' | 'expiry';
      readonly attemptId: string;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(LookAfterAuthentication)
export class LookAfterAuthenticationHandler implements ICommandHandler<LookAfterAuthentication> {
  constructor(
    private readonly access: PartyAccess,
    private readonly references: PartyReferences,
    private readonly calls: ExternalCalls,
    private readonly askForStanding: AskForStanding,
    private readonly endAuthentication: EndAuthentication,
    private readonly secrets: PartySecrets,
    private readonly aggregates: AggregateStore,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { named, asked, attemptId }, context }: LookAfterAuthentication): Promise<PartyAnswer> {
    const found = await this.access.find(named, context);
    const { partyId, loaded } = found;
    const reference = await this.references.find(partyId, loaded.state, context);
    if (reference === null) throw new DomainError('party.token_missing');
    await this.access.admitAccount(context);
    const { subjectId, vendor } = reference;
    const attempt = { id: partyId, attemptId, subject: subjectId, context, vendor };
    const call = asked === 'status' ? this.askForStanding : this.endAuthentication;
    await this.calls.admit(call, attempt);
    if (asked === 'expiry') await this.expire(attempt);
    const end = await this.calls.make(call, attempt, reference);
    if (end === null || end === 'timed-out') throw new DomainError('service.upstream_timeout');
    const said = await this.secrets.answer(subjectId, partyId, attemptId);
    // The log does not record the call, so no recovery job would remove the answer later.
    await this.secrets.forgetAnswer(subjectId, partyId, attemptId);
    return this.answer(found, said ?? { kind: 'unavailable', reply: null }, subjectId, context);
  }

  private async answer(
    found: FoundParty,
    { kind, reply, authenticated = false }: Answered,
    subjectId: string,
    context: CallerContext,
  ): Promise<PartyAnswer> {
    if (kind === 'standing' || kind === 'expired') {
      const written = kind === 'expired' ? EXPIRED : await this.standing(found, authenticated, context);
      return { json: reply?.body ?? written, accepted: true, subjectId };
    }
    if (reply === null && kind === 'refused-otherwise')
      return decided({ kind: 'refused', refusal: kind, field: null }, 'reauthentication', found.partyId, subjectId);
    throw failureBy(reply, 'reauthentication', subjectId);
  }

  /** The vendor decides whether the authentication is valid. The service knows its times. */
  private async standing(
    { loaded: { state }, newest }: FoundParty,
    authenticated: boolean,
    context: CallerContext,
  ): Promise<string> {
    const { reauthValiditySeconds: validity } = this.policy.limits;
    const now = await this.clock.of(context);
    const since = authenticated ? confirmedSince(state, newest?.verifiedAt ?? null, now, validity) : null;
    return standingAnswer(authenticated, since, validity);
  }

  private async expire(attempt: Attempt): Promise<void> {
    try {
      const command = { kind: 'expire', now: await this.clock.of(attempt.context) } as const;
      await this.aggregates.execute(party, attempt.id, command, attempt.context);
    } catch (error) {
      await this.calls.withdraw(this.endAuthentication, attempt);
      throw error;
    }
  }
}
