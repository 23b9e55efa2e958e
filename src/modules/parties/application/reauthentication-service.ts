// What asking for a challenge, answering it and asking for another code have in common: reserve the attempt, have it made, and
// answer from what was recorded.
import { Injectable } from '@nestjs/common';
import type { ExternalCall } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { lockAt } from '../../../challenges/domain/answer-limit.js';
import { isAnswer } from '../../../challenges/domain/verdict.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { RateLimiter, type RateUse } from '../../../ports/rate-limiter.js';
import { Accounts } from '../../../published/accounts.js';
import { KnownPersons } from '../../../published/known-persons.js';
import { type PartyState, type Reference } from '../domain/party.js';
import { operationOf, party, pendingOf, type PartyCommand } from '../domain/party-decider.js';
import type { FoundParty } from './party-access.js';
import { accepted, failureBy, lockedBy, refusalBy, wrong, type PartyAnswer } from './party-answer.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets } from './party-secrets.js';
import { ReauthenticationRecorder } from './reauthentication-recorder.js';

type Reserving = Extract<PartyCommand, { kind: 'reauthenticate' | 'answer-otp' | 'answer-kba' | 'resend-otp' }>;
type Call<Input> = readonly [call: ExternalCall<Input>, input: Input];

@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly accounts: Accounts,
    private readonly secrets: PartySecrets,
    private readonly persons: KnownPersons,
    private readonly recorder: ReauthenticationRecorder,
    private readonly limiter: RateLimiter,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  /** Throws what the party and the limits refuse. An attempt that the party knows already is not made again: it is answered as it was. */
  async take<Input>(
    found: Pick<FoundParty, 'partyId' | 'loaded'>,
    command: Reserving,
    reference: Reference,
    call: Call<Input>,
    context: CallerContext,
  ): Promise<PartyAnswer> {
    const { partyId, loaded } = found;
    if (!loaded.state.attemptIds.includes(command.attemptId)) {
      const blockedUntil = await this.persons.lockedUntil(reference.personIds ?? []);
      if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
      party.decide(command, loaded.state);
      await this.admitAccount(context);
      // Throws while the vault is away: what the vendor says could not be kept, so nothing is reserved.
      await this.secrets.isErased(reference.subjectId);
      const codes = sendsCode(command) ? await this.codesTo(reference, context) : [];
      await this.limiter.admit(codes);
      let codeSent = false;
      try {
        const made = await this.make(found, command, reference, call, context);
        const sent = made && (await this.hasSentCode(found, command.attemptId));
        codeSent = sent !== false;
        if (sent === 'unknown') await this.limiter.setAside(command.attemptId, codes);
      } finally {
        if (!codeSent) await this.limiter.giveBack(codes);
      }
    }
    return this.outcome(partyId, command.attemptId, reference.subjectId);
  }

  /** False when another process has reserved the attempt meanwhile. */
  private async make<Input>(
    { partyId, loaded }: Pick<FoundParty, 'partyId' | 'loaded'>,
    command: Reserving,
    { subjectId, vendor }: Reference,
    [call, input]: Call<Input>,
    context: CallerContext,
  ): Promise<boolean> {
    const { attemptId, settleAfter } = command;
    const attempt = { id: partyId, attemptId, subject: subjectId, context, vendor, settleAfter };
    await this.calls.admit(call, attempt);
    let reserved = false;
    try {
      const known = await this.aggregates.execute(party, partyId, command, context, loaded);
      if (known.events.length > 0) await this.admitAnswer(partyId, known.state, command, context);
      reserved = known.events.length > 0;
    } finally {
      if (!reserved) await this.calls.withdraw(call, attempt);
    }
    if (reserved) await this.calls.make(call, attempt, input);
    return reserved;
  }

  /** Whether the person behind the party may still be wrong, whatever other parties and sessions are theirs. */
  private async admitAnswer(
    partyId: string,
    state: PartyState,
    { attemptId, giveUpAfter }: Reserving,
    context: CallerContext,
  ): Promise<void> {
    const pending = pendingOf(state, attemptId);
    if (pending === null || !isAnswer(operationOf(pending))) return;
    const answer = { partyId, attemptId, limit: this.policy.lock, context };
    const admission = await this.persons.admit(pending.personIds ?? [], answer, giveUpAfter);
    if (admission.kind === 'admitted') return;
    await this.recorder.notExecuted(partyId, pending, context);
    throw admission.kind === 'locked'
      ? new DomainError('party.locked', { blockedUntil: admission.lockedUntil })
      : new DomainError('screening.attempt_in_progress', { retryAfterSeconds: 1 });
  }

  private codesTo({ sessionId, personIds = [] }: Reference, owner: CallerContext): Promise<readonly RateUse[]> {
    return this.persons.codesTo(sessionId, personIds, owner);
  }

  private async hasSentCode(
    before: Pick<FoundParty, 'partyId' | 'loaded'>,
    attemptId: string,
  ): Promise<boolean | 'unknown'> {
    const { attempt, challenge } = (await this.aggregates.load(party, before.partyId)).state;
    if (attempt?.attemptId === attemptId) return 'unknown';
    const again = (challenge?.resends ?? 0) > (before.loaded.state.challenge?.resends ?? 0);
    return challenge?.otp === true && (challenge.attemptId === attemptId || again);
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

/** A call with which the vendor may send a code. */
function sendsCode({ kind }: Reserving): boolean {
  return kind === 'reauthenticate' || kind === 'resend-otp';
}
