import { Controller, Get, Param } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ofReport } from '../../../../surfaces/direct/operations.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { OpenRenterReport } from '../../application/open-renter-report.js';
import { ReadReportExpiry } from '../../application/read-report-expiry.js';
import { ApiReportQuery, CurrentPartyReading, type PartyReading } from './report-query.js';
import { PARTY_REPORT, PULL_ERRORS, QUERY_ERRORS, ReportExpiryResult } from './report-result.js';

/** Reports of renters, for the servers that registered them (docs/contract/direct.md#reports). */
@ApiTags('reports')
@ApiSecurity('api-key')
@Controller('api/idv/renters/:renterId')
export class RenterReportsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get(['report', ''])
  @Limited({ by: ['reportReadsPerMinute', 'vendorShare'] })
  @ApiReportQuery()
  @Operation({
    id: ofReport(() => 'readRenterReport'),
    summary: 'Read the report of a renter. The path without `/report` is the older spelling',
    description: "The bureau's own report, as JSON or as a page. The first read pulls it.",
    replies: { 200: PARTY_REPORT },
    errors: ['party.renter_unknown', 'party.locked', 'party.not_confirmed', ...QUERY_ERRORS, ...PULL_ERRORS],
  })
  async open(
    @Param('renterId') renterId: string,
    @CurrentPartyReading() { context, query, answered }: PartyReading,
  ): Promise<string> {
    return answered(await this.commands.execute(new OpenRenterReport(renterId, query, context)));
  }

  @Get('report-expiry')
  @Limited({ not: 'it only reads' })
  @Operation({
    id: 'readRenterReportExpiry',
    summary: 'Read when the report of a renter expires',
    description: 'Null until a report is pulled.',
    replies: { 200: ReportExpiryResult },
    errors: ['party.renter_unknown', 'party.locked'],
  })
  async expiry(
    @Param('renterId') renterId: string,
    @CurrentContext() context: RequestContext,
  ): Promise<ReportExpiryResult> {
    return success({ tokenExpiration: await this.queries.execute(new ReadReportExpiry(renterId, context)) });
  }
}
