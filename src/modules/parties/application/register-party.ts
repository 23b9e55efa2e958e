import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Applicant } from '../../../kernel/applicant.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Screenings, type ScreeningFacts } from '../../../published/screenings.js';
import { Verifications, type VerificationStep } from '../../../published/verifications.js';
import type { Registration } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import { PartyAccess, type FoundParty, type NamedParty } from './party-access.js';
import { answerOf, type PartyAnswer } from './party-answer.js';
import { PartyDirectory } from './party-directory.js';
import { PartyIds } from './party-ids.js';
import { PartyPolicy } from './party-policy.js';
import { PartySecrets } from './party-secrets.js';

/**
 * Registers a party: a screening session of its own, one vendor call. The same request again, while the first is with the vendor
 * or shortly after, is answered from that one: who was told 504 and tries again is not billed twice.
 */
@UseCase()
export class RegisterParty extends Command<PartyAnswer> {
  constructor(
    readonly named: NamedParty,
    readonly applicant: Applicant,
    /** By which the same request is known again: its body, as text. Never stored. */
    readonly body: string,
    /** Of the session that a new registration opens. */
    readonly sessionId: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** When a registration with another body may be tried, seconds. */
const RETRY_AFTER_SECONDS = 5;

@Handles(RegisterParty)
export class RegisterPartyHandler implements ICommandHandler<RegisterParty> {
  constructor(
    private readonly access: PartyAccess,
    private readonly ids: PartyIds,
    private readonly aggregates: AggregateStore,
    private readonly verifications: Verifications,
    private readonly directory: PartyDirectory,
    private readonly screenings: Screenings,
    private readonly secrets: PartySecrets,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: RegisterParty): Promise<PartyAnswer> {
    const { named, body, context } = command;
    const partyId = await this.access.idOf(named, context);
    const bodyHash = await this.ids.hashOf(partyId, body);
    const within = AbortSignal.timeout(this.policy.limits.vendorTimeoutSeconds * 1_000);
    // Another registration may be quicker, and then it counts.
    const step =
      (await this.register(command, partyId, bodyHash, within)) ??
      (await this.register(command, partyId, bodyHash, within));
    if (step === null) throw anotherIsBeingMade();
    return answerOf(step, 'registration', this.clock.now());
  }

  /** What the vendor says to it, or to the same one that another request has made; null when another registration of the party was first. */
  private async register(
    command: RegisterParty,
    partyId: string,
    bodyHash: string,
    within: AbortSignal,
  ): Promise<VerificationStep | null> {
    const found = await this.access.look(partyId);
    const again = await this.sameAttempt(command, found, bodyHash);
    const earlier = again !== null && found.newest !== null ? await this.verifications.latest(again, within) : null;
    const isAnswered = earlier?.step === 'answers' || earlier?.step === 'resend';
    if (earlier !== null && !isAnswered) return earlier;
    // After an answer to its challenge, the same body is another registration.
    const sessionId = isAnswered ? command.sessionId : (again ?? command.sessionId);
    return this.begin(command, found, sessionId, bodyHash, within);
  }

  /** The session to answer from; null for a registration that begins anew. Throws when neither may be. */
  private async sameAttempt(
    { sessionId: own, context: { environment } }: RegisterParty,
    { partyId, loaded: { state }, newest }: FoundParty,
    bodyHash: string,
  ): Promise<string | null> {
    const last = state.registrations.at(-1);
    if (last === undefined) return null;
    const { sessionId } = last;
    if (sessionId === own) return sessionId;
    const same = last.bodyHash === bodyHash;
    if (this.isWithVendor(last, newest)) {
      if (same) return sessionId;
      throw anotherIsBeingMade();
    }
    const recent = same && this.clock.now() < this.policy.attempt(sessionId, new Date(last.registeredAt)).giveUpAfter;
    const confirmed = await this.directory.isConfirmed(partyId, state, newest);
    if (newest?.status === 'VERIFIED' && confirmed) {
      if (await this.isReportOver(newest)) return null;
      const guarded = environment === 'live' || newest.duplicateGuard;
      if (guarded && !(recent && (await this.cameLate(newest)))) throw new DomainError('party.already_confirmed');
      return recent ? sessionId : null;
    }
    if (confirmed && environment === 'live') throw new DomainError('party.already_confirmed');
    return recent && newest?.status === 'STEP_UP_REQUIRED' ? sessionId : null;
  }

  /** Also where the session is about to be opened. */
  private isWithVendor({ registeredAt }: Registration, newest: ScreeningFacts | null): boolean {
    if (newest !== null) return newest.status === 'SUBMITTED';
    const opens = new Date(registeredAt).getTime() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    return this.clock.now().getTime() < opens;
  }

  /** Only another registration leads to another report. */
  private async isReportOver({ sessionId, userType }: ScreeningFacts): Promise<boolean> {
    return userType === 'CONSUMER' && (await this.screenings.reportProspect(sessionId)) !== 'possible';
  }

  /** Who began it was told that time was up, and has not heard of its success. Whoever answered a challenge has. */
  private async cameLate({ sessionId, createdAt, verifiedAt }: ScreeningFacts): Promise<boolean> {
    const tookMs = new Date(verifiedAt ?? createdAt).getTime() - new Date(createdAt).getTime();
    if (tookMs < this.policy.limits.vendorTimeoutSeconds * 1_000) return false;
    return (await this.verifications.latest(sessionId))?.step !== 'answers';
  }

  /**
   * First the limits, then the party, then the session: a process that dies in between leaves a registration without a session, which the
   * same request opens. Null when another registration of the party was first.
   */
  private async begin(
    { named, applicant, context }: RegisterParty,
    { partyId, loaded }: FoundParty,
    sessionId: string,
    bodyHash: string,
    within: AbortSignal,
  ): Promise<VerificationStep | null> {
    const after = loaded.state.registrations.at(-1)?.sessionId ?? null;
    const registeredAt = this.clock.now().toISOString();
    const register = { kind: 'register', of: named.kind, sessionId, after, bodyHash, registeredAt } as const;
    const admitted = await this.verifications.admit(sessionId, partyId, applicant, context);
    let isFirst = false;
    try {
      const unseen = { ...context, skipReadYourWrites: true } as const;
      const { state } = await this.aggregates.execute(party, partyId, register, unseen, loaded);
      isFirst = state.registrations.at(-1)?.sessionId === sessionId;
    } finally {
      if (!isFirst) await this.verifications.withdraw(admitted);
    }
    if (!isFirst) return null;
    // With the registration an open challenge is over, whether the session is opened or not.
    const { challenge } = loaded.state;
    if (challenge !== null) await this.secrets.forgetChallenge(challenge.subjectId, partyId);
    return this.verifications.open(admitted, within);
  }
}

function anotherIsBeingMade(): DomainError {
  return new DomainError('screening.attempt_in_progress', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    rule: 'Another registration under this id is still being made.',
  });
}
