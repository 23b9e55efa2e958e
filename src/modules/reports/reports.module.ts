import { Global, Module } from '@nestjs/common';
import { HttpSettings } from '../../config/http.js';
import { Limits } from '../../config/limits.js';
import { PdfSettings } from '../../config/pdf.js';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { ReadModels } from '../../ports/read-models.js';
import { ReportHistory } from '../../published/report-history.js';
import { ReportPulls, Reports } from '../../published/reports.js';
import { Screenings } from '../../published/screenings.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PartiesModule } from '../parties/parties.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { ConsentToShareHandler } from './application/consent-to-share.js';
import { EndPulls } from './application/end-pulls.js';
import { FetchPdfHandler } from './application/fetch-pdf.js';
import { FindDisclosedSessionHandler } from './application/find-disclosed-session.js';
import { LinkReportHandler } from './application/link-report.js';
import { OpenLinkedReportHandler } from './application/open-linked-report.js';
import { OpenRenterReportHandler } from './application/open-renter-report.js';
import { OpenReportHandler } from './application/open-report.js';
import { OpenReportOnServerHandler } from './application/open-report-on-server.js';
import { PartyReports } from './application/party-reports.js';
import { reportPublisher, sharePublisher } from './application/publish.js';
import { ReadCreditScoreHandler } from './application/read-credit-score.js';
import { ReadReportExpiryHandler } from './application/read-report-expiry.js';
import { ReadSharingHandler } from './application/read-sharing.js';
import { ReportPolicy } from './application/report-policy.js';
import { ReportPull } from './application/report-pull.js';
import { PrintPage, RenderPdfHandler } from './application/render-pdf.js';
import { ReadPurposes } from './application/read-purposes.js';
import { ReadRefusals } from './application/read-refusals.js';
import { ReportAccess } from './application/report-access.js';
import { ReportRelease } from './application/report-release.js';
import { ReportViewer } from './application/report-viewer.js';
import { RevokeSharingHandler } from './application/revoke-sharing.js';
import { SettleReport, SettleReportHandler } from './application/settle-report.js';
import { ShareRecipient } from './application/share-recipient.js';
import { UnlinkReportHandler } from './application/unlink-report.js';
import { WhenReportSettled } from './application/when-report-settled.js';
import { DisclosuresReader } from './read/disclosures.js';
import { reportShares, ReportSharesReader } from './read/report-shares.js';
import { ReportDirectory, reportStatus } from './read/report-status.js';
import { ReportSteps } from './read/report-steps.js';
import { reportViews } from './read/report-views.js';

/** The module is global, because screenings, parties and payments use `Reports` and `ReportPulls`, while reports depend on these modules. */
@Projections([reportStatus, reportViews, reportShares])
@Publishers([sharePublisher, reportPublisher])
@EventHandlers([WhenReportSettled])
@Global()
@Module({
  imports: [AccountsModule, ScreeningModule, PartiesModule, PaymentsModule],
  providers: [
    ReportDirectory,
    { provide: Reports, useExisting: ReportDirectory },
    { provide: ReportPulls, useClass: EndPulls },
    { provide: ReportHistory, useClass: ReportSteps },
    ReportAccess,
    PartyReports,
    ReportRelease,
    ReadPurposes,
    ReadRefusals,
    ReportViewer,
    ReportPull,
    {
      provide: ReportSharesReader,
      useFactory: (lists: CompleteLists, readModels: ReadModels) => new ReportSharesReader(lists, readModels),
      inject: [CompleteLists, ReadModels],
    },
    ShareRecipient,
    OpenRenterReportHandler,
    OpenLinkedReportHandler,
    LinkReportHandler,
    UnlinkReportHandler,
    ReadCreditScoreHandler,
    ReadReportExpiryHandler,
    WhenReportSettled,
    OpenReportHandler,
    OpenReportOnServerHandler,
    ConsentToShareHandler,
    RevokeSharingHandler,
    ReadSharingHandler,
    FindDisclosedSessionHandler,
    DisclosuresReader,
    PrintPage,
    RenderPdfHandler,
    FetchPdfHandler,
    SettleReportHandler,
    {
      provide: ReportPolicy,
      useFactory: (limits: Limits, { publicUrl, pdfUrl }: HttpSettings, { servedPagesOnly }: PdfSettings) =>
        new ReportPolicy(
          {
            reportValiditySeconds: limits.reportValidity,
            shareWindowSeconds: limits.shareWindow,
            vendorTimeoutSeconds: limits.vendorTimeout,
            retryIntervalSeconds: limits.reportRetryInterval,
            pdfLinkSeconds: 300,
            readsPerMinute: limits.reportReadsPerMinute,
            sharesPerMinute: limits.sharesPerMinute,
            pdfsPerMinute: limits.pdfsPerMinute,
            servedPagesOnly,
          },
          pdfUrl ?? publicUrl,
        ),
      inject: [Limits, HttpSettings, PdfSettings],
    },
    ...attemptRecovery({
      vendor: 'credit-bureau',
      operation: 'settle-report',
      inject: [ReportDirectory, Screenings],
      due: (environment, now, limit, directory) => directory.due(environment, now, limit),
      askedFor: async (id, _directory, screenings) => {
        const facts = await screenings.find(id);
        return facts && { vendor: facts.vendors.credit, environment: facts.environment };
      },
      settle: (id, signal) => new SettleReport(id, signal),
    }),
  ],
  exports: [Reports, ReportHistory, ReportPulls, ReportSharesReader, DisclosuresReader],
})
export class ReportsModule {}
