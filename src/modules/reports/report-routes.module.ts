import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ReportsModule } from './reports.module.js';
import { AgentLinksController, OrganizationLinksController } from './http/direct/links.controllers.js';
import { RenterReportsController } from './http/direct/renter-reports.controller.js';
import { DisclosuresController } from './http/platform/disclosures.controller.js';
import { PdfController } from './http/platform/pdf.controller.js';
import { ReportsController } from './http/platform/reports.controller.js';
import { ServerDisclosuresController } from './http/server/server-disclosures.controller.js';
import { ServerReportsController } from './http/server/server-reports.controller.js';

@Module({
  imports: [AccountsModule, ReportsModule],
  controllers: [
    ReportsController,
    DisclosuresController,
    PdfController,
    ServerReportsController,
    ServerDisclosuresController,
    RenterReportsController,
    AgentLinksController,
    OrganizationLinksController,
  ],
})
export class ReportRoutesModule {}
