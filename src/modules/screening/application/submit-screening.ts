import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId, newSalt } from '../../../kernel/ids.js';
import type { RateUse } from '../../../kernel/rate-use.js';
import { Unavailable } from '../../../kernel/unavailable.js';
import {
  AggregateStore,
  unstored,
  type CommandResult,
  type LoadedAggregate,
} from '../../../platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../platform/aggregates/test-traffic.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { keepCaller } from '../../../ports/vault-entry.js';
import { Accounts, type AccountFacts } from '../../../published/accounts.js';
import { foldedApplicant } from '../../../published/folded-applicant.js';
import type { GrantFacts } from '../../../published/session-grants.js';
import { VendorRoutes } from '../../../published/vendor-routes.js';
import type { AdmittedSubmission } from '../../../published/verifications.js';
import { consent, type ConsentCommand } from '../domain/consent.js';
import { screenedPerson, sessionsIn, subjectOf, type PersonState } from '../domain/screened-person.js';
import { existing, isUnderReview, pending, personBlocked, screeningSession } from '../domain/screening-session.js';
import { reasonForBrowsers, type Session, type SessionEvent, type SessionState } from '../domain/session.js';
import { EarlierScreenings } from './earlier-screenings.js';
import { GrantedSessions } from './granted-sessions.js';
import { PersonAnswers } from './person-answers.js';
import { namesOf } from './person-names.js';
import { mayHaveSentSms, refusalOfSubmission, wasNotExecuted, type StepTaken } from './refusals.js';
import { Registration, type RegistrationInput } from './registration.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';
import { admitToAccount, consentOf, submissionOf, type ScreeningRequest, type SubmitCommand } from './submission.js';
import { SubmissionLimits } from './submission-limits.js';

export interface SubmittedScreening {
  readonly sessionId: string;
  readonly session: Session;
}

/**
 * Screens a person with one vendor call, which is made at most once. The log never contains the applicant's details. A second submission under the
 * same session id changes nothing, and returns the result of the first.
 */
@UseCase()
export class SubmitScreening extends Command<SubmittedScreening> {
  constructor(
    readonly request: ScreeningRequest,
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** A submission that the account and the limits have accepted, before it is stored. */
export interface AdmittedScreening extends AdmittedSubmission {
  readonly command: SubmitScreening;
  readonly grant: GrantFacts | null;
  /** The person as loaded before the submission. */
  readonly person: LoadedAggregate<PersonState>;
  readonly consent: ConsentCommand;
  readonly submission: SubmitCommand;
  readonly attempt: Attempt;
  readonly input: RegistrationInput;
  readonly uses: readonly RateUse[];
  /** The uses of the code that the vendor may send. */
  readonly sms: readonly RateUse[];
}

@Handles(SubmitScreening)
export class SubmitScreeningHandler implements ICommandHandler<SubmitScreening> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly testTraffic: TestTraffic,
    private readonly calls: ExternalCalls,
    private readonly registration: Registration,
    private readonly vault: Vault,
    private readonly secrets: SessionSecrets,
    private readonly accounts: Accounts,
    private readonly routes: VendorRoutes,
    private readonly granted: GrantedSessions,
    private readonly earlier: EarlierScreenings,
    private readonly limits: SubmissionLimits,
    private readonly answers: PersonAnswers,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: SubmitScreening): Promise<SubmittedScreening> {
    const { sessionId } = command.request;
    const { session, attemptId } = await this.open(await this.admit(command));
    const refusal = attemptId === null ? null : refusalOfSubmission(session, attemptId);
    if (refusal) {
      const blocked = session.status === 'BLOCKED' && { block: { reasonCode: reasonForBrowsers(session.reasonCode) } };
      throw new DomainError(refusal.code, { ...refusal.detail, sessionId, ...blocked });
    }
    return { sessionId, session };
  }

  /** Checks the submission and counts it for the limits, without storing anything. The caller must then open or withdraw the submission. */
  async admit(command: SubmitScreening): Promise<AdmittedScreening> {
    const { request, context } = command;
    const { sessionId, clientAddress, grantId } = request;
    const account = await this.accountOf(command);
    // While the vault is unavailable, the vendor's answer could not be stored. The submission is then neither counted nor opened.
    await this.vault.ping();
    const names = namesOf(await this.vault.installationKey('person'), request.applicant, context);
    const persons = [names.personId, ...names.countedAs];
    const applicant = foldedApplicant(request.applicant);
    const phoneId = applicant.phoneNumber ? await this.limits.phoneId(applicant.phoneNumber) : undefined;
    const sms = phoneId === undefined ? [] : this.limits.smsTo(context, phoneId);
    const { environment, lineage } = context;
    const uses = this.limits.submission({ account, environment, persons, clientAddress, lineage, grantId });
    await this.limits.admit([...uses, ...sms]);
    try {
      const grant = await this.granted.of(request, account, context);
      const person = await this.aggregates.load(screenedPerson, names.personId);
      const states = [person.state, ...(await this.answers.load(names.countedAs))];
      const isKnown = person.state.sessionIds.includes(sessionId);
      const { lockedUntil } = this.answers.standingOf(states, await this.clock.of(context));
      if (lockedUntil !== null && !isKnown) throw personBlocked(lockedUntil);
      if (!isKnown) this.testTraffic.admit(context);
      // A repeated submission requests the session that it has opened before. That session must therefore not refuse it.
      const earlier = sessionsIn(states).filter((id) => id !== sessionId);
      await this.earlier.refuse(earlier, names, request, context);
      const times = this.policy.attempt(newId(), this.clock.now());
      const { attemptId, settleAfter } = times;
      const vendors = await this.routes.choose({ ...context, personId: names.personId });
      const subject = subjectOf(names.personId, person.state);
      const attempt = { id: sessionId, attemptId, subject, context, vendor: vendors.identity, settleAfter };
      const submission = { ...submissionOf(request, account, names, grant), ...times, vendors, subjectId: subject };
      await this.calls.admit(this.registration, attempt);
      const input = { applicant, ...(phoneId !== undefined && { phoneId }) };
      return {
        sessionId,
        command,
        grant,
        person,
        consent: consentOf({ acceptedAt: request.applicant.termsAcceptedAt, ...request.said }, account),
        submission,
        attempt,
        input,
        uses,
        sms,
      };
    } catch (error) {
      return this.refuse(error, { sessionId, uses, sms });
    }
  }

  /** Returns the session after the call, whatever the vendor answers. */
  async open(admitted: AdmittedScreening): Promise<StepTaken> {
    const { sessionId, attempt, input, uses, sms } = admitted;
    const { attemptId } = attempt;
    const opened = await this.append(admitted).catch(async (error: unknown) => {
      await this.calls.withdraw(this.registration, attempt);
      return this.refuse(error, admitted);
    });
    if (opened.events.length === 0) {
      // The first submission has already been counted.
      await this.withdraw(admitted);
      return { session: existing(opened.state), attemptId: null };
    }
    try {
      // The vault gets the caller after an event names the person. Otherwise `audit verify` would not notice that these events were removed.
      await keepCaller(this.vault, admitted.submission.subjectId, admitted.command.context);
      await this.limits.setAside(attemptId, [...uses, ...sms]);
      await this.calls.make(this.registration, attempt, input);
      const session = existing((await this.aggregates.load(screeningSession, sessionId)).state);
      // A call that the vendor did not execute counts for no limit.
      const unused = [
        ...(wasNotExecuted(session, attemptId) ? uses : []),
        ...(mayHaveSentSms(session, attemptId) ? [] : sms),
      ];
      if (isUnderReview(session) || !pending(session, attemptId)) await this.limits.settle(attemptId, unused);
      return { session, attemptId };
    } catch (error) {
      // The caller gets the id of the session even if the log is unavailable.
      return this.refuse(error, { sessionId, uses, sms: [] });
    }
  }

  /** Called when the submission is not opened. */
  async withdraw({ attempt, uses, sms }: AdmittedScreening): Promise<void> {
    await this.calls.withdraw(this.registration, attempt);
    await this.limits.giveBack([...uses, ...sms]);
  }

  /** A submission that one limit refuses counts for no limit. A code that was not requested never counts. */
  private async refuse(
    error: unknown,
    { sessionId, uses, sms }: Pick<AdmittedScreening, 'sessionId' | 'uses' | 'sms'>,
  ): Promise<never> {
    const limited = error instanceof DomainError && error.code === 'request.rate_limited';
    await this.limits.giveBack([...(limited ? uses : []), ...sms]);
    throw error instanceof Unavailable ? new DomainError('service.unavailable', { sessionId, cause: error }) : error;
  }

  /**
   * Records the consent first, and the session with the person before it opens the session. When a process dies in between, a repeated submission
   * opens the session. Read models need no notice, because a status request is answered from the log.
   */
  private async append(admitted: AdmittedScreening): Promise<CommandResult<SessionState, SessionEvent>> {
    const { sessionId, command, grant, person, submission } = admitted;
    const { context } = command;
    const { personId, subjectId, countedAs = [] } = submission;
    if (grant) await this.granted.begin(grant.grantId, sessionId, subjectId, context);
    const { unitAddress } = command.request.said;
    const unitAddressKept =
      unitAddress !== undefined && (await this.secrets.keepUnitAddress(subjectId, sessionId, { unitAddress }));
    const results = await this.aggregates.appendTogether(
      [
        { decider: consent, id: sessionId, known: unstored(consent.initial), command: admitted.consent },
        {
          decider: screenedPerson,
          id: personId,
          known: person,
          command: { kind: 'open', personId, sessionId, salt: newSalt() },
        },
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

  private async accountOf({ request, context }: SubmitScreening): Promise<AccountFacts> {
    const account = await this.accounts.find(context.accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    admitToAccount(request, account);
    if (!this.accounts.mayReachVendors(account, context.environment)) throw new DomainError('account.not_live');
    return account;
  }
}
