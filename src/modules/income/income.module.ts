import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { Scheduler } from '../../ports/scheduler.js';
import { EraseIncomePersonHandler } from './application/erase-income-person.js';
import { IncomeProgress } from './application/income-progress.js';
import { IncomeSecrets } from './application/income-secrets.js';
import { OpenIncomeSessionHandler } from './application/open-income-session.js';
import { SettleIncomeSession, SettleIncomeSessionHandler } from './application/settle-income-session.js';
import { ViewIncomeReportHandler } from './application/view-income-report.js';
import { IncomeController } from './http/platform/income.controller.js';
import { ServerIncomeController } from './http/server/server-income.controller.js';
import { IncomeStatusReader } from './read/income-status.js';

/**
 * Needs from the composition root: the ports IncomeVendor, Vault, ReadModels and Scheduler, AggregateStore and Clock, the facades
 * Accounts and Screenings, and the options IncomePolicy and IncomeLinks.
 */
@Module({
  controllers: [IncomeController, ServerIncomeController],
  providers: [
    EraseIncomePersonHandler,
    IncomeProgress,
    IncomeSecrets,
    IncomeStatusReader,
    OpenIncomeSessionHandler,
    SettleIncomeSessionHandler,
    ViewIncomeReportHandler,
  ],
})
export class IncomeModule {
  constructor(timers: Scheduler, commands: CommandBus, statuses: IncomeStatusReader, clock: Clock) {
    scheduleRecovery(timers, {
      name: 'income-sweep',
      due: (limit) => statuses.due(clock.now(), limit),
      settle: (id) => commands.execute(new SettleIncomeSession(id)),
    });
  }
}
