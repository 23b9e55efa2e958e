import { Module } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { Parties } from '../../published/parties.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { PartyDirectory } from './application/party-directory.js';
import { PartyIds } from './application/party-ids.js';
import { PartyPolicy } from './application/party-policy.js';

@Module({
  imports: [ScreeningModule],
  providers: [
    PartyIds,
    PartyDirectory,
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
  ],
  exports: [Parties],
})
export class PartiesModule {}
