import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ChallengeRecorder } from '../../challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../challenges/application/challenge-service.js';
import { Limits } from '../../config/limits.js';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { AggregateStore } from '../../platform/aggregates/aggregate-store.js';
import { Projections } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { Erasable } from '../../published/holds.js';
import { Parties } from '../../published/parties.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { HoldsModule } from '../holds/holds.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { AnswerRegistrationHandler } from './application/answer-registration.js';
import { AskForStanding, EndAuthentication } from './application/authentication-calls.js';
import { DiscardPartyReplies, DiscardPartyRepliesHandler, keptSince } from './application/discard-party-replies.js';
import { EraseVendorToken, EraseVendorTokenHandler } from './application/erase-vendor-token.js';
import { LookAfterAuthenticationHandler } from './application/look-after-authentication.js';
import { PartyAccess } from './application/party-access.js';
import { PartyChallenges, ReauthenticationCall } from './application/party-challenges.js';
import { PartyDirectory } from './application/party-directory.js';
import { PartyIds } from './application/party-ids.js';
import { PartyPolicy } from './application/party-policy.js';
import { PartyReferences } from './application/party-references.js';
import { PartySecrets } from './application/party-secrets.js';
import { ReauthenticateHandler } from './application/reauthenticate.js';
import { RegisterPartyHandler } from './application/register-party.js';
import { SettleReauthentication, SettleReauthenticationHandler } from './application/settle-reauthentication.js';
import { StoreVendorTokenHandler } from './application/store-vendor-token.js';
import { UnblockPartyHandler } from './application/unblock-party.js';
import { party } from './domain/party-decider.js';
import { partyCalls, PartyCallsReader } from './read/party-calls.js';

@Projections([partyCalls])
@Module({
  imports: [AccountsModule, HoldsModule, ScreeningModule],
  providers: [
    AnswerRegistrationHandler,
    AskForStanding,
    EndAuthentication,
    DiscardPartyRepliesHandler,
    EraseVendorTokenHandler,
    LookAfterAuthenticationHandler,
    ChallengeRecorder,
    ChallengeService,
    PartyAccess,
    PartyChallenges,
    PartyCallsReader,
    PartyDirectory,
    PartyIds,
    PartyReferences,
    PartySecrets,
    ReauthenticationCall,
    ReauthenticateHandler,
    RegisterPartyHandler,
    SettleReauthenticationHandler,
    StoreVendorTokenHandler,
    UnblockPartyHandler,
    { provide: Parties, useExisting: PartyDirectory },
    {
      provide: PartyPolicy,
      useFactory: (limits: Limits) =>
        new PartyPolicy({
          vendorTimeoutSeconds: limits.vendorTimeout,
          otpResendIntervalSeconds: limits.otpResendInterval,
          reauthValiditySeconds: limits.reauthValidity,
          attempts: limits.stepUpAttempts,
          lockSeconds: limits.agentLock,
        }),
      inject: [Limits],
    },
    {
      provide: Erasable,
      useFactory: (commands: CommandBus) =>
        new Erasable(
          'party',
          async () => null,
          (partyId, context) => commands.execute(new EraseVendorToken({ partyId, context })),
        ),
      inject: [CommandBus],
    },
    recoveryJob({
      name: 'vendor-replies',
      inject: [PartyCallsReader],
      due: (now, limit, calls) => calls.holdingReplies(keptSince(now), limit),
      settle: (id) => new DiscardPartyReplies(id),
    }),
    ...attemptRecovery({
      vendor: 'identity-vendor',
      operation: 'settle-reauthentication',
      inject: [PartyCallsReader, AggregateStore],
      due: (environment, now, limit, calls) => calls.due(environment, now, limit),
      askedFor: async (id, _calls, aggregates) => {
        const { owner, state } = await aggregates.load(party, id);
        return owner && { vendor: state.attempt?.vendor, environment: owner.environment };
      },
      settle: (id, signal) => new SettleReauthentication(id, signal),
    }),
  ],
  exports: [Parties],
})
export class PartiesModule {}
