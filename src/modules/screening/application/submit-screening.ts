import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ChallengeRecorder, type Attempted } from '../../../challenges/application/challenge-recorder.js';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { foldedApplicant } from '../../../published/folded-applicant.js';
import { Clock } from '../../../kernel/clock.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import { newId } from '../../../kernel/ids.js';
import type { RateUse } from '../../../kernel/rate-use.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import type { CallerContext } from '../../../kernel/context.js';
import {
  AggregateStore,
  unstored,
  type CommandResult,
  type LoadedAggregate,
} from '../../../platform/aggregates/aggregate-store.js';
import { TestShare } from '../../../platform/aggregates/test-share.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor, type Applicant, type VendorCall } from '../../../ports/identity-vendor.js';
import { Vault } from '../../../ports/vault.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { Reports } from '../../../published/reports.js';
import { Screenings } from '../../../published/screenings.js';
import { SessionGrants, type BegunSession, type GrantFacts } from '../../../published/session-grants.js';
import type { AdmittedSubmission } from '../../../published/verifications.js';
import { overallStatusOf } from '../domain/overall-status.js';
import { INSTALLATION_TERMS } from '../domain/installation-terms.js';
import { screenedPerson, sessionsIn, subjectOf, type PersonState } from '../domain/screened-person.js';
import {
  existing,
  isOfPerson,
  pending,
  personBlocked,
  screeningSession,
  type SessionCommand,
} from '../domain/screening-session.js';
import {
  reasonForBrowsers,
  type Session,
  type SessionEvent,
  type SessionState,
  type UnitAddressContent,
} from '../domain/session.js';
import type { NewAttempt } from '../../../challenges/domain/challenge.js';
import { PersonAnswers } from './person-answers.js';
import { namesOf, type PersonNames } from './person-names.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';
import { RegistrationRecorder } from './registration-recorder.js';
import { mayHaveSentSms, refusalOf, wasNotExecuted, type StepTaken } from './refusals.js';
import { SessionChallenges } from './session-challenges.js';

export type { Applicant };

export interface SubmittedScreening {
  readonly sessionId: string;
  readonly session: Session;
}

/** The facts that a page gives beside the person's details. */
export interface SaidByPage {
  readonly termsVersion?: string;
  readonly endUserType?: EndUserType;
  readonly unitAddress?: UnitAddressContent['unitAddress'];
}

/**
 * Screens a person with one vendor call, which is made at most once. The applicant's details never reach the log. A second submission
 * under the same session id changes nothing, and gives the result of the first.
 */
@UseCase()
export class SubmitScreening extends Command<SubmittedScreening> {
  constructor(
    readonly sessionId: string,
    readonly applicant: Applicant,
    readonly context: CallerContext,
    /** The session grant of the submission; null without one. */
    readonly grantId: string | null = null,
    /** The address of the browser that sent it (see SubmissionLimits); null when a server sent it. */
    readonly clientAddress: string | null = null,
    /** The party of the direct API that it verifies; null for a person who uses a page. */
    readonly partyId: string | null = null,
    readonly said: SaidByPage = {},
  ) {
    super();
  }
}

type SubmitCommand = Extract<SessionCommand, { kind: 'submit' }>;

interface RegistrationInput {
  readonly applicant: Applicant;
  readonly phoneId?: string;
}

/** A submission that the account and the limits have admitted. Nothing of it is stored yet. */
export interface AdmittedScreening extends AdmittedSubmission {
  readonly command: SubmitScreening;
  readonly grant: GrantFacts | null;
  /** The person as loaded before the submission. */
  readonly person: LoadedAggregate<PersonState>;
  readonly submission: SubmitCommand;
  readonly attempt: Attempt;
  readonly input: RegistrationInput;
  readonly uses: readonly RateUse[];
  /** The uses of the code that the vendor may send. */
  readonly sms: readonly RateUse[];
}

@Injectable()
export class Registration extends ExternalCall<RegistrationInput> {
  override readonly vendor = 'identity-vendor';
  override readonly operation = 'register';
  override readonly semantics = 'at-most-once';
  override readonly isMadeAgain = true;

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly identityVendor: IdentityVendor,
    private readonly recorder: RegistrationRecorder,
    private readonly challenges: ChallengeRecorder,
    private readonly sessions: SessionChallenges,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    attempt: Attempt,
    { applicant, phoneId }: RegistrationInput,
  ): Promise<void> {
    const attempted = await this.attempted(attempt);
    if (pending(attempted.known.state, attempt.attemptId) === null) return;
    await this.recorder.record(attempted, await this.identityVendor.register(call, applicant), phoneId);
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.challenges.notExecuted(this.sessions, await this.attempted(attempt));
  }

  private async attempted({ id, attemptId, context }: Attempt): Promise<Attempted<SessionState>> {
    return { id, attemptId, context, known: await this.aggregates.load(screeningSession, id) };
  }
}

@Handles(SubmitScreening)
export class SubmitScreeningHandler implements ICommandHandler<SubmitScreening> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly testShare: TestShare,
    private readonly calls: ExternalCalls,
    private readonly registration: Registration,
    private readonly vault: Vault,
    private readonly secrets: SessionSecrets,
    private readonly accounts: Accounts,
    private readonly grants: SessionGrants,
    private readonly reports: Reports,
    private readonly screenings: Screenings,
    private readonly limits: SubmissionLimits,
    private readonly answers: PersonAnswers,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: SubmitScreening): Promise<SubmittedScreening> {
    const { sessionId } = command;
    const { session, attemptId } = await this.open(await this.admit(command));
    const refusal = attemptId === null ? null : refusalOfSubmission(session, attemptId);
    if (refusal) {
      const blocked = session.status === 'BLOCKED' && { block: { reasonCode: reasonForBrowsers(session.reasonCode) } };
      throw new DomainError(refusal.code, { ...refusal.detail, sessionId, ...blocked });
    }
    return { sessionId, session };
  }

  /** Checks the submission and counts it against the limits. It stores nothing. The caller must open or withdraw the submission. */
  async admit(command: SubmitScreening): Promise<AdmittedScreening> {
    const { sessionId, context, clientAddress, grantId, partyId } = command;
    const account = await this.accountOf(command);
    // While the vault is unavailable, the vendor's answer could not be kept. So nothing is counted or opened then.
    await this.vault.ping();
    const names = namesOf(await this.vault.installationKey('person'), command.applicant, context);
    const persons = [names.personId, ...names.countedAs];
    const applicant = foldedApplicant(command.applicant);
    const phoneId = applicant.phoneNumber ? await this.limits.phoneId(applicant.phoneNumber) : undefined;
    const sms = phoneId === undefined ? [] : this.limits.smsTo(context, phoneId);
    const { environment, lineage } = context;
    const uses = this.limits.submission({ account, environment, persons, clientAddress, lineage, grantId });
    await this.limits.admit([...uses, ...sms]);
    try {
      const grant = await this.grantOf(command);
      const person = await this.aggregates.load(screenedPerson, names.personId);
      const states = [person.state, ...(await this.answers.load(names.countedAs))];
      const isKnown = person.state.sessionIds.includes(sessionId);
      const { lockedUntil } = this.answers.standingOf(states);
      if (lockedUntil !== null && !isKnown) throw personBlocked(lockedUntil);
      if (!isKnown) this.testShare.admit(context);
      // A repeated submission asks for its own session, so that session must not refuse it.
      const earlier = sessionsIn(states).filter((id) => id !== sessionId);
      await this.refuseLockedOrRegistered(earlier, names, command.applicant, context, partyId);
      const times = this.policy.attempt(newId(), this.clock.now());
      const { attemptId, settleAfter } = times;
      const { vendors } = account;
      const subject = subjectOf(names.personId, person.state);
      const attempt = { id: sessionId, attemptId, subject, context, vendor: vendors.identity, settleAfter };
      const submission = { ...submissionOf(command, account, names, grant), ...times, subjectId: subject };
      await this.calls.admit(this.registration, attempt);
      const input = { applicant, ...(phoneId !== undefined && { phoneId }) };
      return { sessionId, command, grant, person, submission, attempt, input, uses, sms };
    } catch (error) {
      return this.refuse(error, { sessionId, uses, sms });
    }
  }

  /** Gives the session afterwards, whatever the vendor answered. */
  async open(admitted: AdmittedScreening): Promise<StepTaken> {
    const { sessionId, attempt, input, uses, sms } = admitted;
    const { attemptId } = attempt;
    const opened = await this.append(admitted).catch(async (error: unknown) => {
      await this.calls.withdraw(this.registration, attempt);
      return this.refuse(error, admitted);
    });
    if (opened.events.length === 0) {
      // The first submission was counted already.
      await this.withdraw(admitted);
      return { session: existing(opened.state), attemptId: null };
    }
    try {
      await this.limits.setAside(attemptId, [...uses, ...sms]);
      await this.calls.make(this.registration, attempt, input);
      const session = existing((await this.aggregates.load(screeningSession, sessionId)).state);
      // A call that the vendor did not execute counts against no limit.
      const unused = [
        ...(wasNotExecuted(session, attemptId) ? uses : []),
        ...(mayHaveSentSms(session, attemptId) ? [] : sms),
      ];
      if (!pending(session, attemptId)) await this.limits.settle(attemptId, unused);
      return { session, attemptId };
    } catch (error) {
      // The caller gets the id of the session even when the log is unavailable.
      return this.refuse(error, { sessionId, uses, sms: [] });
    }
  }

  /** Called when the submission is not opened. */
  async withdraw({ attempt, uses, sms }: AdmittedScreening): Promise<void> {
    await this.calls.withdraw(this.registration, attempt);
    await this.limits.giveBack([...uses, ...sms]);
  }

  /** A submission that one limit refuses counts against no limit. A code that was not asked for never counts. */
  private async refuse(
    error: unknown,
    { sessionId, uses, sms }: Pick<AdmittedScreening, 'sessionId' | 'uses' | 'sms'>,
  ): Promise<never> {
    const limited = error instanceof DomainError && error.code === 'request.rate_limited';
    await this.limits.giveBack([...(limited ? uses : []), ...sms]);
    throw error instanceof Unavailable ? new DomainError('service.unavailable', { sessionId, cause: error }) : error;
  }

  private async grantOf({ grantId, applicant }: SubmitScreening): Promise<GrantFacts | null> {
    const grant = grantId === null ? null : await this.grants.find(grantId);
    if (grant && grant.userType !== null && grant.userType !== applicant.userType)
      throw fieldError('request.invalid', 'person.userType', `must be ${grant.userType}, as the session grant says`);
    return grant;
  }

  /**
   * Records the session with the person before it opens it. When a process dies in between, a repeated submission opens the session.
   * Read models are not told, because a status that is asked for now is read from the log.
   */
  private async append(admitted: AdmittedScreening): Promise<CommandResult<SessionState, SessionEvent>> {
    const { sessionId, command, grant, person, submission } = admitted;
    const { context, said } = command;
    const { personId, subjectId, countedAs = [] } = submission;
    if (grant) await this.beginUnder(grant.grantId, sessionId, context);
    if (grant) await this.grants.entrustDetails(grant.grantId, subjectId, context);
    const { unitAddress } = said;
    const unitAddressKept =
      unitAddress !== undefined && (await this.secrets.keepUnitAddress(subjectId, sessionId, { unitAddress }));
    const results = await this.aggregates.appendTogether(
      [
        { decider: screenedPerson, id: personId, known: person, command: { kind: 'open', personId, sessionId } },
        ...countedAs.map((id) => ({
          decider: screenedPerson,
          id,
          command: { kind: 'count-session', sessionId } as const,
        })),
        {
          decider: screeningSession,
          id: sessionId,
          known: unstored(screeningSession.initial),
          command: { ...submission, ...(unitAddressKept && { unitAddressKept }) },
        },
      ],
      { ...context, skipReadYourWrites: true },
    );
    return results.at(-1) as CommandResult<SessionState, SessionEvent>;
  }

  /** A grant has one session, and another only after that one ended without success (docs/contract/server.md#values-of-a-grant). */
  private async beginUnder(grantId: string, sessionId: string, context: SubmitScreening['context']): Promise<void> {
    let begun = await this.grants.begin(grantId, sessionId, null, context);
    if (begun.sessionId !== sessionId && (await this.isOverInVain(begun)))
      begun = await this.grants.begin(grantId, sessionId, begun.sessionId, context);
    if (begun.sessionId !== sessionId)
      throw new DomainError('request.forbidden', {
        rule: 'Another session was opened under this session grant.',
        sessionId: begun.sessionId,
      });
  }

  /**
   * A session that was never stored is over once no process can still be about to store it. A verified session is over when its report
   * never came and can no longer come.
   */
  private async isOverInVain({ sessionId, begunAt }: BegunSession): Promise<boolean> {
    const { state } = await this.aggregates.load(screeningSession, sessionId);
    if (state.status === 'NONE')
      return this.clock.now().getTime() > new Date(begunAt).getTime() + this.policy.limits.vendorTimeoutSeconds * 1_000;
    if (state.status === 'VERIFIED')
      return (
        state.userType === 'CONSUMER' &&
        (await this.reports.expiryOf(sessionId)) === null &&
        (await this.screenings.reportProspect(sessionId)) === 'none'
      );
    return state.status === 'BLOCKED' || state.status === 'EXPIRED' || state.status === 'ERROR';
  }

  private async accountOf({ applicant, context, partyId, said }: SubmitScreening): Promise<AccountFacts> {
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (!account.products.includes(applicant.userType))
      throw new DomainError('screening.product_not_enabled', { field: 'person.userType' });
    // The vendor checks the products that a server names for its own parties.
    if (partyId === null && applicant.productId !== undefined && !account.productIds.includes(applicant.productId))
      throw fieldError('request.invalid', 'screening.productId', 'must be a product of the account');
    // A consent must name a text that existed, and not one that a page made up.
    if (
      said.termsVersion !== undefined &&
      ![...account.termsVersions, INSTALLATION_TERMS.version].includes(said.termsVersion)
    )
      throw fieldError('request.invalid', 'screening.termsVersion', 'must be a version of the terms of the account');
    if (!this.accounts.mayReachVendors(account, context.environment)) throw new DomainError('account.not_live');
    return account;
  }

  /**
   * Throws for a locked person, and for one with a completed screening that still serves (docs/contract/platform.md#codes-and-answers,
   * #registering-twice). A screening of the same party does not count, because the party decides whether it may be screened again.
   */
  private async refuseLockedOrRegistered(
    sessionIds: readonly string[],
    names: PersonNames,
    applicant: Applicant,
    { environment }: SubmitScreening['context'],
    partyId: string | null,
  ): Promise<void> {
    const now = this.clock.now();
    const earlier = await Promise.all(
      sessionIds.map(async (sessionId) => ({
        sessionId,
        ...(await this.aggregates.load(screeningSession, sessionId)),
      })),
    );
    for (const { sessionId, state } of earlier) {
      if (state.status === 'NONE') continue;
      if (state.status === 'BLOCKED' && state.blockedUntil !== null && new Date(state.blockedUntil) > now)
        throw personBlocked(state.blockedUntil);
      const guarded =
        state.status === 'VERIFIED' &&
        isOfPerson(state, names) &&
        state.userType === applicant.userType &&
        (partyId === null || state.partyId !== partyId) &&
        overallStatusOf(state) === 'COMPLETED' &&
        (environment === 'live' || state.duplicateGuard);
      if (guarded && (await this.stillServes(sessionId, state, now)))
        throw new DomainError('screening.already_registered');
    }
  }

  /** A screening serves until its report expires. Without a report that was read, it serves as long from the verification on. */
  private async stillServes(
    sessionId: string,
    { verifiedAt, userType }: Extract<Session, { status: 'VERIFIED' }>,
    now: Date,
  ): Promise<boolean> {
    if (userType === 'CONSUMER' && (await this.screenings.reportProspect(sessionId)) !== 'possible') return false;
    const reportExpiresAt = await this.reports.expiryOf(sessionId);
    const until =
      reportExpiresAt === null
        ? new Date(verifiedAt).getTime() + this.policy.limits.reportValiditySeconds * 1_000
        : new Date(reportExpiresAt).getTime();
    return until > now.getTime();
  }
}

function submissionOf(
  { applicant, partyId, said }: SubmitScreening,
  { vendors, consumerPays }: AccountFacts,
  { personId, countedAs, registeredAs }: PersonNames,
  grant: GrantFacts | null,
): Omit<SubmitCommand, keyof NewAttempt | 'subjectId'> {
  const { userType, termsAcceptedAt, productId } = applicant;
  const { termsVersion } = said;
  const endUserType = endUserTypeOf(grant, said);
  return {
    kind: 'submit',
    personId,
    userType,
    vendors,
    ...(termsAcceptedAt !== undefined && { termsAcceptedAt }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(endUserType !== undefined && { endUserType }),
    ...(productId !== undefined && { productId }),
    paymentRequired: userType === 'CONSUMER' && consumerPays,
    ...(grant && {
      grantId: grant.grantId,
      ...(grant.recipientAccountId && { intendedRecipientId: grant.recipientAccountId }),
    }),
    ...(partyId !== null && { partyId }),
    countedAs,
    ...(registeredAs !== undefined && { registeredAs }),
  };
}

/** The grant's end user type, which a page may repeat. Without one, the page's. */
function endUserTypeOf(grant: GrantFacts | null, { endUserType }: SaidByPage): EndUserType | undefined {
  const granted = grant === null || grant.endUserType === 'OTHER' ? null : grant.endUserType;
  if (granted === null) return endUserType;
  if (endUserType !== undefined && endUserType !== granted)
    throw fieldError('request.invalid', 'screening.endUserType', `must be ${granted}, as the session grant says`);
  return granted;
}

/** A new submission of a locked person is refused, where an answer would get the blocked session. */
function refusalOfSubmission(session: Session, attemptId: string): DomainError | null {
  const locked = session.status === 'BLOCKED' && session.reasonCode === 'TOO_MANY_ATTEMPTS';
  return locked ? personBlocked(session.blockedUntil) : refusalOf(session, attemptId);
}
