import { Module } from '@nestjs/common';
import { Reports } from '../../published/reports.js';
import { ReportDirectory } from './read/report-status.js';

/** Reading when reports expire, apart from ReportsModule: screenings ask for it, and reports need screenings. */
@Module({
  providers: [ReportDirectory, { provide: Reports, useExisting: ReportDirectory }],
  exports: [ReportDirectory, Reports],
})
export class ReportDirectoryModule {}
