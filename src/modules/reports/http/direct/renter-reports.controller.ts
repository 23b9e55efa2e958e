import { Controller, Get, Param } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ApiRefusals } from '../../../../surfaces/direct/refusals.js';
import { OpenRenterReport } from '../../application/open-renter-report.js';
import { ReadReportExpiry } from '../../application/read-report-expiry.js';
import { ApiReportQuery, CurrentPartyReading, type PartyReading } from './report-query.js';
import { ApiPartyReport, ReportExpiryResult } from './report-result.js';

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
  @ApiOperation({ summary: 'Read the report of a renter. The path without `/report` is the older spelling' })
  @ApiReportQuery()
  @ApiPartyReport()
  @ApiRefusals(401, 402, 406, 409, 422, 423, 502, 504)
  async open(
    @Param('renterId') renterId: string,
    @CurrentPartyReading() { context, query, answered }: PartyReading,
  ): Promise<string> {
    return answered(await this.commands.execute(new OpenRenterReport(renterId, query, context)));
  }

  @Get('report-expiry')
  @Limited({ not: 'it only reads' })
  @ApiOperation({ summary: 'Read when the report of a renter expires' })
  @ApiOkResponse({ type: ReportExpiryResult })
  @ApiRefusals(423)
  async expiry(
    @Param('renterId') renterId: string,
    @CurrentContext() context: RequestContext,
  ): Promise<ReportExpiryResult> {
    return success({ tokenExpiration: await this.queries.execute(new ReadReportExpiry(renterId, context)) });
  }
}
