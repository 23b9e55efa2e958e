import { Global, Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ExternalCallRecovery } from '../../external-calls/recovery.js';
import { Clock } from '../../kernel/clock.js';
import { Screenings } from '../../published/screenings.js';
import { ErasePersonHandler } from './application/erase-person.js';
import { PersonAnswers } from './application/person-answers.js';
import { ResendOtpHandler, SendOtpAgain } from './application/resend-otp.js';
import { ScreeningDirectory } from './application/screening-directory.js';
import { SessionSecrets } from './application/session-secrets.js';
import { SubmissionLimits } from './application/submission-limits.js';
import { SettleSession, SettleSessionHandler } from './application/settle-session.js';
import { StepUpService } from './application/step-up-service.js';
import { SubmitKbaHandler, VerifyKba } from './application/submit-kba.js';
import { SubmitOtpHandler, VerifyOtp } from './application/submit-otp.js';
import { Registration, SubmitScreeningHandler } from './application/submit-screening.js';
import { VendorResultRecorder } from './application/vendor-result-recorder.js';
import { ScreeningController } from './http/platform/screening.controller.js';
import { ServerScreeningController } from './http/server/server-screening.controller.js';
import { ScreeningStatusReader } from './read/screening-status.js';

/** Global, because payments, reports and income follow from screenings. */
@Global()
@Module({
  controllers: [ScreeningController, ServerScreeningController],
  providers: [
    PersonAnswers,
    Registration,
    SendOtpAgain,
    SessionSecrets,
    StepUpService,
    SubmissionLimits,
    VendorResultRecorder,
    VerifyKba,
    VerifyOtp,
    ScreeningStatusReader,
    SubmitScreeningHandler,
    SubmitOtpHandler,
    SubmitKbaHandler,
    ResendOtpHandler,
    SettleSessionHandler,
    ErasePersonHandler,
    { provide: Screenings, useClass: ScreeningDirectory },
  ],
  exports: [Screenings],
})
export class ScreeningModule {
  constructor(recovery: ExternalCallRecovery, commands: CommandBus, statuses: ScreeningStatusReader, clock: Clock) {
    recovery.add({
      due: (limit) => statuses.due(clock.now(), limit),
      settle: (id) => commands.execute(new SettleSession(id)),
    });
  }
}
