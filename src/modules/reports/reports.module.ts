import { Global, Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Reactions } from '../../ports/reactions.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { sweepRegularly } from '../../platform/subscriptions/sweep.js';
import { RecurringWork } from '../../ports/recurring-work.js';
import { Reports } from '../../published/reports.js';
import { ConsentToShareHandler } from './application/consent-to-share.js';
import { FetchPdfHandler } from './application/fetch-pdf.js';
import { OpenReportHandler } from './application/open-report.js';
import { OpenReportOnServerHandler } from './application/open-report-on-server.js';
import { PdfLinks } from './application/pdf-links.js';
import { PullSettling } from './application/pull-settling.js';
import { RenderPdfHandler } from './application/render-pdf.js';
import { ReportAccess } from './application/report-access.js';
import { ReportBodies } from './application/report-bodies.js';
import { ReportRelease } from './application/report-release.js';
import { ReportShowing } from './application/report-showing.js';
import { RevokeSharingHandler } from './application/revoke-sharing.js';
import { SettleReport, SettleReportHandler } from './application/settle-report.js';
import { ShareRecipient } from './application/share-recipient.js';
import { WhenReportSettled } from './application/when-report-settled.js';
import { PdfController } from './http/pdf.controller.js';
import { ReportsController } from './http/reports.controller.js';
import { ServerReportsController } from './http/server-reports.controller.js';
import { ReportSharesReader } from './read/report-shares.js';
import { ReportDirectory } from './read/report-status.js';

/**
 * Global, because other modules ask when a report expires. Needs from the composition root: the ports Vault, ReadModels,
 * CreditBureau, PdfRenderer, TemporaryFiles, RecurringWork and Reactions, the facades Screenings, PrepaidCredit, SessionGrants
 * and Accounts, Handling, Clock and CompleteLists, and ReportPolicy.
 */
@Global()
@Module({
  controllers: [ReportsController, PdfController, ServerReportsController],
  providers: [
    ReportAccess,
    ReportBodies,
    ReportRelease,
    ReportShowing,
    PullSettling,
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
    timers: RecurringWork,
    reactions: Reactions,
    whenReportSettled: WhenReportSettled,
    commands: CommandBus,
    directory: ReportDirectory,
    clock: Clock,
  ) {
    reactions.on(whenReportSettled);
    sweepRegularly(timers, {
      name: 'report-sweep',
      due: (limit) => directory.due(clock.now(), limit),
      settle: (id) => commands.execute(new SettleReport(id)),
    });
  }
}
