import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { HttpSettings } from '../../config/http.js';
import { Limits } from '../../config/limits.js';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { AggregateStore } from '../../platform/aggregates/aggregate-store.js';
import { Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { publishedLinks } from '../../published/events.js';
import { Erasable } from '../../published/holds.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { HoldsModule } from '../holds/holds.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { RoutingModule } from '../vendors/vendors.module.js';
import { EraseIncomePerson, EraseIncomePersonHandler } from './application/erase-income-person.js';
import { IncomePolicy } from './application/income-policy.js';
import { IncomeProgress } from './application/income-progress.js';
import { IncomeSecrets } from './application/income-secrets.js';
import { OpenIncomeSessionHandler } from './application/open-income-session.js';
import { incomePublisher } from './application/publish.js';
import { SettleIncomeSession, SettleIncomeSessionHandler } from './application/settle-income-session.js';
import { ViewIncomeReportHandler } from './application/view-income-report.js';
import { incomeSession, vendorOf } from './domain/income-session.js';
import { IncomeLinks } from './read/income-links.js';
import { incomeStatus, IncomeStatusReader } from './read/income-status.js';

@Projections([incomeStatus])
@Publishers([incomePublisher])
@Module({
  imports: [AccountsModule, HoldsModule, RoutingModule, ScreeningModule],
  providers: [
    EraseIncomePersonHandler,
    IncomeProgress,
    IncomeSecrets,
    IncomeStatusReader,
    OpenIncomeSessionHandler,
    SettleIncomeSessionHandler,
    ViewIncomeReportHandler,
    {
      provide: IncomePolicy,
      useFactory: (limits: Limits) =>
        new IncomePolicy({
          vendorTimeoutSeconds: limits.vendorTimeout,
          sessionTtlSeconds: limits.stepUpTtl,
          sessionsPerScreening: limits.incomeSessionsPerScreening,
          sessionsPerMinute: limits.incomeSessionsPerMinute,
          sessionsPerMinutePerAccount: limits.incomeSessionsPerMinutePerAccount,
          readsPerMinute: limits.reportReadsPerMinute,
        }),
      inject: [Limits],
    },
    {
      provide: IncomeLinks,
      useFactory: ({ publicUrl, publicUrlConfigured }: HttpSettings): IncomeLinks => {
        const { incomeReportUrl } = publishedLinks(publicUrlConfigured ? publicUrl : null);
        return { reportUrl: (id) => incomeReportUrl?.(id) ?? null };
      },
      inject: [HttpSettings],
    },
    {
      provide: Erasable,
      useFactory: (aggregates: AggregateStore, commands: CommandBus) =>
        new Erasable(
          'income-session',
          async (sessionId) => {
            const { owner, state } = await aggregates.load(incomeSession, sessionId);
            if (!owner?.accountId || state.status === 'NONE') return null;
            const { subjectId, screeningSessionId } = state;
            return { accountId: owner.accountId, sessionId: screeningSessionId ?? sessionId, subjectId };
          },
          (id, context) => commands.execute(new EraseIncomePerson(id, context)),
        ),
      inject: [AggregateStore, CommandBus],
    },
    ...attemptRecovery({
      vendor: 'income-vendor',
      operation: 'settle-income',
      inject: [IncomeStatusReader, AggregateStore],
      due: (environment, now, limit, statuses) => statuses.due(environment, now, limit),
      askedFor: async (id, _statuses, aggregates) => {
        const { owner, state } = await aggregates.load(incomeSession, id);
        if (!owner || state.status === 'NONE') return null;
        return { vendor: vendorOf(state, state.route), environment: owner.environment };
      },
      settle: (id, signal, noticed) => new SettleIncomeSession(id, signal, noticed),
    }),
  ],
  exports: [IncomeLinks, IncomeStatusReader],
})
export class IncomeModule {}
