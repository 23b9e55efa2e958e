import { Global, Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { Scheduler } from '../../ports/scheduler.js';
import { Screenings } from '../../published/screenings.js';
import { Answering } from './application/answering.js';
import { ErasePersonHandler } from './application/erase-person.js';
import { PersonAnswers } from './application/person-answers.js';
import { ResendOtpHandler } from './application/resend-otp.js';
import { ScreeningDirectory } from './application/screening-directory.js';
import { SessionSecrets } from './application/session-secrets.js';
import { SubmissionLimits } from './application/submission-limits.js';
import { SettleSession, SettleSessionHandler } from './application/settle-session.js';
import { SubmitKbaHandler } from './application/submit-kba.js';
import { SubmitOtpHandler } from './application/submit-otp.js';
import { SubmitScreeningHandler } from './application/submit-screening.js';
import { VerdictRecording } from './application/verdict-recording.js';
import { ScreeningController } from './http/platform/screening.controller.js';
import { ServerScreeningController } from './http/server/server-screening.controller.js';
import { ScreeningStatusReader } from './read/screening-status.js';

/** Global, because payments, reports and income follow from screenings. */
@Global()
@Module({
  controllers: [ScreeningController, ServerScreeningController],
  providers: [
    Answering,
    PersonAnswers,
    SessionSecrets,
    SubmissionLimits,
    VerdictRecording,
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
  constructor(timers: Scheduler, commands: CommandBus, statuses: ScreeningStatusReader, clock: Clock) {
    scheduleRecovery(timers, {
      name: 'screening-sweep',
      due: (limit) => statuses.due(clock.now(), limit),
      settle: (id) => commands.execute(new SettleSession(id)),
    });
  }
}
