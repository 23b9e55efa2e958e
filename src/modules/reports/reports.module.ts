import { Global, Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { EventHandlers } from '../../ports/event-handlers.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { Scheduler } from '../../ports/scheduler.js';
import { Reports } from '../../published/reports.js';
import { ConsentToShareHandler } from './application/consent-to-share.js';
import { FetchPdfHandler } from './application/fetch-pdf.js';
import { OpenReportHandler } from './application/open-report.js';
import { OpenReportOnServerHandler } from './application/open-report-on-server.js';
import { PdfLinks } from './application/pdf-links.js';
import { ReportPullOutcome } from './application/report-pull-outcome.js';
import { RenderPdfHandler } from './application/render-pdf.js';
import { ReportAccess } from './application/report-access.js';
import { ReportBodyStore } from './application/report-body-store.js';
import { ReportRelease } from './application/report-release.js';
import { ReportViewer } from './application/report-viewer.js';
import { RevokeSharingHandler } from './application/revoke-sharing.js';
import { SettleReport, SettleReportHandler } from './application/settle-report.js';
import { ShareRecipient } from './application/share-recipient.js';
import { WhenReportSettled } from './application/when-report-settled.js';
import { PdfController } from './http/platform/pdf.controller.js';
import { ReportsController } from './http/platform/reports.controller.js';
import { ServerReportsController } from './http/server/server-reports.controller.js';
import { ReportSharesReader } from './read/report-shares.js';
import { ReportDirectory } from './read/report-status.js';

/**
 * Global, because other modules ask when a report expires. Needs from the composition root: the ports Vault, ReadModels,
 * CreditBureau, PdfRenderer, TemporaryFiles, Scheduler and EventHandlers, the facades Screenings, PrepaidCredit, SessionGrants
 * and Accounts, AggregateStore, Clock and CompleteLists, and ReportPolicy.
 */
@Global()
@Module({
  controllers: [ReportsController, PdfController, ServerReportsController],
  providers: [
    ReportAccess,
    ReportBodyStore,
    ReportRelease,
    ReportViewer,
    ReportPullOutcome,
    {
      provide: ReportSharesReader,
      useFactory: (lists: CompleteLists, clock: Clock) => new ReportSharesReader(lists, clock),
      inject: [CompleteLists, Clock],
    },
    ShareRecipient,
    PdfLinks,
    WhenReportSettled,
    ReportDirectory,
    OpenReportHandler,
    OpenReportOnServerHandler,
    ConsentToShareHandler,
    RevokeSharingHandler,
    RenderPdfHandler,
    FetchPdfHandler,
    SettleReportHandler,
    { provide: Reports, useExisting: ReportDirectory },
  ],
  exports: [Reports],
})
export class ReportsModule {
  constructor(
    timers: Scheduler,
    reactions: EventHandlers,
    whenReportSettled: WhenReportSettled,
    commands: CommandBus,
    directory: ReportDirectory,
    clock: Clock,
  ) {
    reactions.on(whenReportSettled);
    scheduleRecovery(timers, {
      name: 'report-sweep',
      due: (limit) => directory.due(clock.now(), limit),
      settle: (id) => commands.execute(new SettleReport(id)),
    });
  }
}
