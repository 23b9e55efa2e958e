import { Module } from '@nestjs/common';
import { ReportPulls, Reports } from '../../published/reports.js';
import { EndPulls } from './application/end-pulls.js';
import { ReportDirectory } from './read/report-status.js';

/** What screenings and payments ask of reports, apart from ReportsModule: reports need screenings and payments. */
@Module({
  providers: [
    ReportDirectory,
    { provide: Reports, useExisting: ReportDirectory },
    { provide: ReportPulls, useClass: EndPulls },
  ],
  exports: [ReportDirectory, Reports, ReportPulls],
})
export class ReportDirectoryModule {}
