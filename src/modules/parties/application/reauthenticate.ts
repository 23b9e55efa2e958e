import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { inputOf, type CallInput } from '../../../challenges/application/challenge-call.js';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { lockAt } from '../../../challenges/domain/answer-limit.js';
import {
  answerBy,
  askCommand,
  type AskCommand,
  type Challenge,
  type NewAttempt,
} from '../../../challenges/domain/challenge.js';
import type { Device } from '../../../kernel/applicant.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { AnswerCounts } from '../../../published/answer-counts.js';
import { foldedDevice } from '../../../published/folded-applicant.js';
import { KnownPersons } from '../../../published/known-persons.js';
import type { Decision, GivenToParty } from '../../../published/verifications.js';
import type { PartyState, Reference } from '../domain/party.js';
import { BUSY, party, type PartyCommand } from '../domain/party-decider.js';
import { PartyAccess, type FoundParty, type NamedParty } from './party-access.js';
import { accepted, decided, failureBy, lockedBy, refusalBy, wrong, type PartyAnswer } from './party-answer.js';
import { PartyChallenges, ReauthenticationCall } from './party-challenges.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';
import { PartySecrets, type Answered } from './party-secrets.js';

/** `start` requests a challenge, even while the old authentication is valid. The request ends a challenge that is still open. */
type Step = GivenToParty | { readonly method: 'start'; readonly device: Partial<Device> };

/** Requests a challenge from the vendor, answers it, or has another code sent. A party can have only one call at the vendor at a time. */
@UseCase()
export class Reauthenticate extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      /** The id of the step. A step with a known id is not judged again. */
      readonly attemptId: string;
      /** Never stored. */
      readonly step: Step;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

interface Asked {
  readonly command: AskCommand | Extract<PartyCommand, { kind: 'reauthenticate' }>;
  readonly input: CallInput;
}

@Handles(Reauthenticate)
export class ReauthenticateHandler implements ICommandHandler<Reauthenticate> {
  constructor(
    private readonly access: PartyAccess,
    private readonly references: PartyReferences,
    private readonly aggregates: AggregateStore,
    private readonly challenges: ChallengeService,
    private readonly parties: PartyChallenges,
    private readonly call: ReauthenticationCall,
    private readonly secrets: PartySecrets,
    private readonly counts: AnswerCounts,
    private readonly persons: KnownPersons,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  /** Throws if the party or a limit refuses. An attempt that the party already knows is not made again, and the caller gets its first answer. */
  async execute({ request: { named, attemptId, step }, context }: Reauthenticate): Promise<PartyAnswer> {
    const found = await this.access.find(named, context);
    const { state } = found.loaded;
    const challenge = step.method === 'start' ? null : state.challenge;
    const reference = challenge ?? (await this.references.find(found.partyId, state, context));
    if (reference === null) {
      const isAnswer = step.method === 'otp' || step.method === 'kba';
      throw new DomainError(isAnswer ? 'party.no_challenge' : 'party.token_missing');
    }
    // The vendor's time limit goes by the machine's time.
    const attempt = { ...this.policy.attempt(attemptId, this.clock.now()), now: await this.clock.of(context) };
    if (!state.attemptIds.includes(attemptId))
      await this.ask(found, this.asked(step, attempt, reference, challenge), reference, context);
    const { attemptId: begunBy } = challenge ?? attempt;
    return this.outcome(found.partyId, attempt, { begunBy, subjectId: reference.subjectId });
  }

  private asked(step: Step, attempt: NewAttempt, reference: Reference, challenge: Challenge | null): Asked {
    if (step.method === 'start')
      return {
        command: { kind: 'reauthenticate', ...attempt, reference },
        input: { kind: 'start', device: foldedDevice(step.device) },
      };
    const given = answerBy(step, challenge?.questions ?? []);
    const command = askCommand(given, attempt, this.policy.limits.otpResendIntervalSeconds);
    return { command, input: inputOf(command) };
  }

  private async ask(
    { partyId, loaded }: FoundParty,
    { command, input }: Asked,
    { sessionId, subjectId, vendor, personIds = [] }: Reference,
    context: CallerContext,
  ): Promise<void> {
    const blockedUntil = await this.counts.lockedUntil(personIds, context);
    if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
    party.decide(command, loaded.state);
    await this.access.admitAccount(context);
    // This call throws while the vault is unavailable, and no attempt is reserved, because the vendor's answer could not be stored.
    await this.secrets.isErased(subjectId);
    const sendsCode = input.kind === 'start' || input.kind === 'resend';
    const uses = sendsCode ? await this.persons.codesTo(sessionId, personIds, context) : [];
    const asked = { id: partyId, loaded, command, about: { subjectId, vendor, personIds }, uses, context };
    const asking = await this.challenges.ask(this.parties, this.call, asked, input);
    if (asking.kind === 'locked') throw new DomainError('party.locked', { blockedUntil: asking.lockedUntil });
    if (asking.kind === 'others-first') throw new DomainError('screening.attempt_in_progress', BUSY);
  }

  /** `begunBy` is the attempt that requested the challenge. */
  private async outcome(
    partyId: string,
    { attemptId, now }: NewAttempt,
    { begunBy, subjectId }: { readonly begunBy: string; readonly subjectId: string },
  ): Promise<PartyAnswer> {
    const { state } = await this.aggregates.load(party, partyId);
    if (state.attempt?.attemptId === attemptId) throw new DomainError('service.upstream_timeout');
    const said = await this.secrets.answer(subjectId, partyId, attemptId);
    // The attempt was settled without an answer, or the answer is no longer kept, or the person was erased.
    if (said === null) throw new DomainError('party.no_challenge');
    const { kind, reply } = said;
    const lockedUntil = lockAt(state, now);
    if ((kind === 'wrong' || kind === 'locked' || kind === 'confirmed') && lockedUntil !== null)
      throw lockedBy(reply, 'reauthentication', subjectId, lockedUntil);
    const decision = reply === null ? await this.decisionIn(said, state, subjectId, partyId) : null;
    if (decision !== null) return decided(decision, 'reauthentication', begunBy, subjectId);
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

  /** Null if the vendor has decided nothing. */
  private async decisionIn(
    { kind, reason }: Answered,
    { challenge }: PartyState,
    subjectId: string,
    partyId: string,
  ): Promise<Decision | null> {
    switch (kind) {
      case 'unavailable':
      case 'unintelligible':
        return null;
      case 'confirmed':
        return { kind };
      case 'step-up':
      case 'sent':
      case 'wrong': {
        const questions = await this.secrets.questions(subjectId, partyId);
        const attemptsRemaining = kind === 'wrong' ? (challenge?.attemptsRemaining ?? 0) : null;
        return { kind: 'challenge', otp: challenge?.otp ?? false, questions, attemptsRemaining };
      }
      case 'session-over':
        return { kind: 'refused', refusal: kind, field: null };
      default:
        return { kind: 'refused', refusal: reason ?? 'refused-otherwise', field: null };
    }
  }
}
