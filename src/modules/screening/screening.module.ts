import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { RecurringWork } from '../../ports/recurring-work.js';
import { Answering } from './application/answering.js';
import { ErasePersonHandler } from './application/erase-person.js';
import { ResendOtpHandler } from './application/resend-otp.js';
import { SessionSecrets } from './application/session-secrets.js';
import { SettleSession, SettleSessionHandler } from './application/settle-session.js';
import { SubmitKbaHandler } from './application/submit-kba.js';
import { SubmitOtpHandler } from './application/submit-otp.js';
import { SubmitScreeningHandler } from './application/submit-screening.js';
import { VerdictRecording } from './application/verdict-recording.js';
import { ScreeningController } from './http/screening.controller.js';
import { ScreeningStatusReader } from './read/screening-status.js';

const SWEEP_EVERY_MS = 2_000;
const SWEEP_AT_MOST = 500;
const SWEEP_TOGETHER = 16;

@Module({
  controllers: [ScreeningController],
  providers: [
    Answering,
    SessionSecrets,
    VerdictRecording,
    ScreeningStatusReader,
    SubmitScreeningHandler,
    SubmitOtpHandler,
    SubmitKbaHandler,
    ResendOtpHandler,
    SettleSessionHandler,
    ErasePersonHandler,
  ],
})
export class ScreeningModule {
  constructor(timers: RecurringWork, commands: CommandBus, statuses: ScreeningStatusReader, clock: Clock) {
    timers.every('screening-sweep', SWEEP_EVERY_MS, async () => {
      const due = await statuses.due(clock.now(), SWEEP_AT_MOST);
      const settle = async (): Promise<void> => {
        for (let id = due.shift(); id !== undefined; id = due.shift()) await commands.execute(new SettleSession(id));
      };
      // One session's trouble must not keep the others waiting; it is due again at the next sweep.
      const results = await Promise.allSettled(Array.from({ length: SWEEP_TOGETHER }, settle));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    });
  }
}
