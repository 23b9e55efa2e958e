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
 * Registers a party with a screening session of its own and one vendor call. A repeated request gets the answer of the first request while the first
 * is at the vendor, or shortly afterwards. An integrator that gets a 504 and tries again is therefore not billed twice.
 */
@UseCase()
export class RegisterParty extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      readonly applicant: Applicant;
      /** The body of the request as text, by which a repeated request is recognised. Never stored. */
      readonly body: string;
      /** The id of the session that a new registration opens. */
      readonly sessionId: string;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** A registration with another body may be tried after this many seconds. */
const RETRY_AFTER_SECONDS = 5;

/** For this time, an equal registration gets the end of a review. */
const REVIEW_TOLD_MS = 86_400_000;

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
    const partyId = await this.access.idOf(command.request.named, command.context);
    const bodyHash = await this.ids.hashOf(partyId, command.request.body);
    const within = AbortSignal.timeout(this.policy.limits.vendorTimeoutSeconds * 1_000);
    // Another registration may be faster. The second try then finds that registration.
    const step =
      (await this.register(command, partyId, bodyHash, within)) ??
      (await this.register(command, partyId, bodyHash, within));
    if (step === null) throw anotherIsBeingMade();
    return answerOf(step, 'registration', await this.clock.of(command.context));
  }

  /** The vendor's answer to this registration, or to an equal registration from another request. Null if another registration was faster. */
  private async register(
    command: RegisterParty,
    partyId: string,
    bodyHash: string,
    within: AbortSignal,
  ): Promise<VerificationStep | null> {
    const found = await this.access.look(partyId, command.context);
    const again = await this.sameAttempt(command, found, bodyHash);
    const earlier = again !== null && found.newest !== null ? await this.verifications.latest(again, within) : null;
    const isAnswered = earlier?.step === 'answers' || earlier?.step === 'resend';
    if (earlier !== null && !isAnswered) return earlier;
    // When the challenge has been answered, the same body means another registration.
    const sessionId = isAnswered ? command.request.sessionId : (again ?? command.request.sessionId);
    return this.begin(command, found, { sessionId, bodyHash }, within);
  }

  /**
   * The session that already has the answer; null when a new registration may begin. Throws when no such session exists and no registration may
   * begin.
   */
  private async sameAttempt(
    { request: { sessionId: own }, context }: RegisterParty,
    found: FoundParty,
    bodyHash: string,
  ): Promise<string | null> {
    const last = found.loaded.state.registrations.at(-1);
    if (last === undefined) return null;
    const { sessionId } = last;
    if (sessionId === own) return sessionId;
    const same = last.bodyHash === bodyHash;
    if (this.isWithVendor(last, found.newest)) {
      if (same) return sessionId;
      throw anotherIsBeingMade(found.newest?.reviewUntil);
    }
    if (same && (await this.wasReviewed(found.newest))) return sessionId;
    const recent = same && this.clock.now() < this.policy.attempt(sessionId, new Date(last.registeredAt)).giveUpAfter;
    return (await this.isAnsweredBy(found, context, recent)) && recent ? sessionId : null;
  }

  /**
   * Whether the previous registration came from an equal request and is recent enough to answer the present request. Throws when the party may not
   * register again.
   */
  private async isAnsweredBy(
    { partyId, loaded: { state }, newest }: FoundParty,
    context: CallerContext,
    recent: boolean,
  ): Promise<boolean> {
    const confirmed = await this.directory.isConfirmed(partyId, state, newest, await this.clock.of(context));
    if (newest?.status === 'VERIFIED' && confirmed) {
      if (await this.isReportOver(newest)) return false;
      const guarded = context.environment === 'live' || newest.duplicateGuard;
      if (guarded && !(recent && (await this.cameLate(newest)))) throw new DomainError('party.already_confirmed');
      return true;
    }
    if (confirmed && context.environment === 'live') throw new DomainError('party.already_confirmed');
    return newest?.status === 'STEP_UP_REQUIRED';
  }

  /** Whether people at the vendor have decided within the last day. An equal request then asks for their decision. */
  private async wasReviewed(newest: ScreeningFacts | null): Promise<boolean> {
    if (newest === null || this.clock.now().getTime() - new Date(newest.updatedAt).getTime() >= REVIEW_TOLD_MS)
      return false;
    return (await this.verifications.latest(newest.sessionId))?.reviewed === true;
  }

  /** Whether the vendor has the registration. Also true shortly before the session is opened. */
  private isWithVendor({ registeredAt }: Registration, newest: ScreeningFacts | null): boolean {
    if (newest !== null) return newest.status === 'SUBMITTED';
    const opens = new Date(registeredAt).getTime() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    return this.clock.now().getTime() < opens;
  }

  /** Whether the session can no longer have a report. The party then needs another registration to get a report. */
  private async isReportOver({ sessionId, userType }: ScreeningFacts): Promise<boolean> {
    return userType === 'CONSUMER' && (await this.screenings.reportProspect(sessionId)) !== 'possible';
  }

  /** Whether the success came after the integrator had received a 504. If a challenge was answered, the integrator knows of the success. */
  private async cameLate({ sessionId, createdAt, verifiedAt }: ScreeningFacts): Promise<boolean> {
    const tookMs = new Date(verifiedAt ?? createdAt).getTime() - new Date(createdAt).getTime();
    if (tookMs < this.policy.limits.vendorTimeoutSeconds * 1_000) return false;
    return (await this.verifications.latest(sessionId))?.step !== 'answers';
  }

  /**
   * Checks the limits first, then records the registration, then opens the session. A process that dies in between leaves a registration without a
   * session, and a repeated request opens that session. Null if another registration of the party was faster.
   */
  private async begin(
    { request: { named, applicant }, context }: RegisterParty,
    { partyId, loaded }: FoundParty,
    { sessionId, bodyHash }: Pick<Registration, 'sessionId' | 'bodyHash'>,
    within: AbortSignal,
  ): Promise<VerificationStep | null> {
    const after = loaded.state.registrations.at(-1)?.sessionId ?? null;
    const registeredAt = this.clock.now().toISOString();
    const register = { kind: 'register', of: named.kind, sessionId, after, bodyHash, registeredAt } as const;
    const admitted = await this.verifications.admit(sessionId, partyId, applicant, context);
    let isFirst = false;
    try {
      const unseen = { ...context, skipReadYourWrites: true } as const;
      const { state } = await this.aggregates.execute(party, { id: partyId, known: loaded }, register, unseen);
      isFirst = state.registrations.at(-1)?.sessionId === sessionId;
    } finally {
      if (!isFirst) await this.verifications.withdraw(admitted);
    }
    if (!isFirst) return null;
    // The registration ends an open challenge, even if its session is never opened.
    const { challenge } = loaded.state;
    if (challenge !== null) await this.secrets.forgetChallenge(challenge.subjectId, partyId);
    return this.verifications.open(admitted, within);
  }
}

/** `reviewUntil` is set while people at the vendor check the earlier registration. */
function anotherIsBeingMade(reviewUntil: string | null = null): DomainError {
  return reviewUntil === null
    ? new DomainError('screening.attempt_in_progress', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        rule: 'Another registration under this id is still being made.',
      })
    : new DomainError('screening.attempt_in_progress', {
        rule: 'People at the identity vendor still check the registration under this id.',
      });
}
