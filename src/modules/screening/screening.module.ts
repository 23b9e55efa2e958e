import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ChallengeRecorder } from '../../challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../challenges/application/challenge-service.js';
import { Limits } from '../../config/limits.js';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { ExternalCalls } from '../../external-calls/external-calls.js';
import { AggregateStore } from '../../platform/aggregates/aggregate-store.js';
import { listOf } from '../../kernel/projection.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { AccountWaits, waitsOf } from '../../ports/account-waits.js';
import { AnswerCounts } from '../../published/answer-counts.js';
import { KnownPersons } from '../../published/known-persons.js';
import { Consents } from '../../published/consents.js';
import { Erasable } from '../../published/holds.js';
import { Screenings } from '../../published/screenings.js';
import { Verifications } from '../../published/verifications.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { HoldsModule } from '../holds/holds.module.js';
import { RoutingModule } from '../vendors/vendors.module.js';
import { DiscardApplicant, DiscardApplicantHandler } from './application/discard-applicant.js';
import { DiscardVendorReply, DiscardVendorReplyHandler } from './application/discard-vendor-reply.js';
import { EarlierScreenings } from './application/earlier-screenings.js';
import { ErasePerson, ErasePersonHandler } from './application/erase-person.js';
import { FindPartiesBehindHandler } from './application/find-parties-behind.js';
import { ExpireSession, ExpireSessionHandler } from './application/expire-session.js';
import { GrantedSessions } from './application/granted-sessions.js';
import { PartyVerifications } from './application/party-verifications.js';
import { PersonAnswers, WrongAnswerObserver } from './application/person-answers.js';
import { screeningPublisher } from './application/publish.js';
import { RecordedConsents } from './application/recorded-consents.js';
import { ScreeningDirectory } from './application/screening-directory.js';
import { ScreeningPolicy } from './application/screening-policy.js';
import { SessionSecrets } from './application/session-secrets.js';
import { ShadowRegistration } from './application/shadow-registration.js';
import { SubmissionLimits } from './application/submission-limits.js';
import { WhenReportReleased } from './application/when-report-released.js';
import { SettleVerification, SettleVerificationHandler } from './application/settle-verification.js';
import { SubmitScreeningHandler } from './application/submit-screening.js';
import { UnblockPersonHandler } from './application/unblock-person.js';
import { Registration } from './application/registration.js';
import { RegistrationRecorder } from './application/registration-recorder.js';
import { SessionChallenges, StepUpCall } from './application/session-challenges.js';
import { AnswerStepUpHandler } from './application/answer-step-up.js';
import { PersonsOfSessions } from './application/persons-of-sessions.js';
import { holdsApplicant, isOpen, isUnderReview, screeningSession, waitsUntil } from './domain/screening-session.js';
import { ScreeningOptionsReader } from './read/screening-options.js';
import { applicantsHeld, screeningStatus, ScreeningStatusReader } from './read/screening-status.js';

const WAITING = ['SUBMITTED', 'STEP_UP_REQUIRED', 'OTP_PENDING', 'KBA_PENDING'] as const;
const SETTLEMENT = { vendor: 'identity-vendor', operation: 'settle-verification' } as const;
/** The vendor's last reply is kept for this time after a party's session has ended (docs/contract/platform.md#sessions-of-parties). */
const REPLY_KEPT_MS = 3_600_000;

/** The sessions of a test account that wait for an answer, for people at the vendor, or for the removal of the person's own data. */
async function waiting(lists: CompleteLists, account: string): Promise<readonly string[]> {
  const names = WAITING.map((overallStatus) => listOf({ account, environment: 'test', overallStatus }));
  const all = [...names, applicantsHeld({ account, environment: 'test' })];
  return (await Promise.all(all.map((list) => lists.idsIn(screeningStatus, list)))).flat();
}

@Projections([screeningStatus])
@Publishers([screeningPublisher])
@EventHandlers([WhenReportReleased])
@Module({
  imports: [AccountsModule, HoldsModule, RoutingModule],
  providers: [
    PersonAnswers,
    Registration,
    SessionSecrets,
    ShadowRegistration,
    SubmissionLimits,
    EarlierScreenings,
    GrantedSessions,
    ChallengeRecorder,
    ChallengeService,
    RegistrationRecorder,
    SessionChallenges,
    StepUpCall,
    ScreeningStatusReader,
    ScreeningOptionsReader,
    SubmitScreeningHandler,
    AnswerStepUpHandler,
    ExpireSessionHandler,
    DiscardVendorReplyHandler,
    DiscardApplicantHandler,
    WhenReportReleased,
    SettleVerificationHandler,
    ErasePersonHandler,
    FindPartiesBehindHandler,
    UnblockPersonHandler,
    {
      provide: WrongAnswerObserver,
      // The log names the account. The metric does not, because each account would need a label value.
      useFactory: (metrics: Metrics, log: Log): WrongAnswerObserver => ({
        wrongAnswer({ accountId, environment }, locked) {
          metrics.wrongAnswers.inc({ environment: String(environment), locked: String(locked) });
          log.info({ accountId, environment, locked }, 'wrong answer of a person');
        },
      }),
      inject: [Metrics, Log],
    },
    { provide: AnswerCounts, useExisting: PersonAnswers },
    { provide: KnownPersons, useClass: PersonsOfSessions },
    { provide: Screenings, useClass: ScreeningDirectory },
    { provide: Consents, useClass: RecordedConsents },
    { provide: Verifications, useClass: PartyVerifications },
    {
      provide: ScreeningPolicy,
      useFactory: (limits: Limits) =>
        new ScreeningPolicy({
          vendorTimeoutSeconds: limits.vendorTimeout,
          otpResendIntervalSeconds: limits.otpResendInterval,
          stepUpTtlSeconds: limits.stepUpTtl,
          stepUpAttempts: limits.stepUpAttempts,
          blockSeconds: limits.blockDuration,
          reviewSeconds: limits.reviewLimit,
          applicantKeptSeconds: limits.applicantKept,
          reportValiditySeconds: limits.reportValidity,
          submitsPerMinutePerAddress: limits.submitsPerMinutePerAddress,
          submitsPerMinute: limits.submitsPerMinute,
          submitsPerHourPerPerson: limits.submitsPerHourPerPerson,
          wrongAnswersPerHourPerAddress: limits.wrongAnswersPerHourPerAddress,
          smsPerHour: limits.smsPerHour,
          smsPerDay: limits.smsPerDay,
        }),
      inject: [Limits],
    },
    {
      provide: AccountWaits,
      useFactory: (
        aggregates: AggregateStore,
        lists: CompleteLists,
        commands: CommandBus,
        calls: ExternalCalls,
        policy: ScreeningPolicy,
      ) =>
        new AccountWaits(async (accountId) =>
          waitsOf({
            kind: 'session',
            ids: await waiting(lists, accountId),
            at: async (id) => {
              const { state } = await aggregates.load(screeningSession, id);
              const isHeld = state.status === 'VERIFIED' && holdsApplicant(state);
              return isHeld ? policy.applicantKeptUntil(state.verifiedAt) : waitsUntil(state);
            },
            settle: async (id) => {
              const { state } = await aggregates.load(screeningSession, id);
              // A worker asks the vendor. Nothing waits for the worker, because the vendor may be slow.
              if (isUnderReview(state)) await calls.settle(SETTLEMENT, 'test', { id, vendor: state.vendors.identity });
              else if (isOpen(state)) await commands.execute(new ExpireSession(id));
              else await commands.execute(new DiscardApplicant(id));
            },
          }),
        ),
      inject: [AggregateStore, CompleteLists, CommandBus, ExternalCalls, ScreeningPolicy],
    },
    {
      provide: Erasable,
      useFactory: (screenings: Screenings, commands: CommandBus) =>
        new Erasable(
          'screening',
          (sessionId) => screenings.find(sessionId),
          (id, context) => commands.execute(new ErasePerson(id, context)),
        ),
      inject: [Screenings, CommandBus],
    },
    recoveryJob({
      name: 'step-up-expiry',
      inject: [ScreeningStatusReader],
      due: (now, limit, statuses) => statuses.overdue(now, limit),
      settle: (id) => new ExpireSession(id),
    }),
    recoveryJob({
      name: 'applicants',
      inject: [ScreeningStatusReader, ScreeningPolicy],
      due: (now, limit, statuses, policy) =>
        statuses.holdingApplicants(new Date(now.getTime() - policy.limits.applicantKeptSeconds * 1_000), limit),
      settle: (id) => new DiscardApplicant(id),
    }),
    recoveryJob({
      name: 'vendor-replies',
      inject: [ScreeningStatusReader],
      due: (now, limit, statuses) => statuses.holdingReplies(new Date(now.getTime() - REPLY_KEPT_MS), limit),
      settle: (id) => new DiscardVendorReply(id),
    }),
    ...attemptRecovery({
      ...SETTLEMENT,
      inject: [ScreeningStatusReader, Screenings],
      due: (environment, now, limit, statuses) => statuses.unsettled(environment, now, limit),
      askedFor: async (id, _statuses, screenings) => {
        const facts = await screenings.find(id);
        return facts && { vendor: facts.vendors.identity, environment: facts.environment };
      },
      settle: (id, signal, noticed) => new SettleVerification(id, signal, noticed),
    }),
  ],
  exports: [
    AnswerCounts,
    Consents,
    KnownPersons,
    Screenings,
    Verifications,
    ScreeningOptionsReader,
    ScreeningPolicy,
    ScreeningStatusReader,
  ],
})
export class ScreeningModule {}
