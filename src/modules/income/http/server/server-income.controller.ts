import { Controller, Get, Header, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { ViewIncomeReport } from '../../application/view-income-report.js';
import { IncomeLinks } from '../../read/income-links.js';
import { IncomeStatusReader } from '../../read/income-status.js';
import {
  IncomeReportResult,
  incomeReportResult,
  IncomeStatusResult,
  incomeStatusResult,
} from '../platform/income-result.js';

/**
 * Income sessions for servers with a secret key: the account's own and its direct children's
 * (docs/contract/server.md#readable-sessions).
 */
@ApiTags('income')
@ApiSecurity('secret-key')
@Controller('v1/income-sessions')
export class ServerIncomeController {
  constructor(
    private readonly queries: QueryBus,
    private readonly statuses: IncomeStatusReader,
    private readonly links: IncomeLinks,
  ) {}

  @Get(':income_session_id/status')
  @ReadsOnly()
  @ApiOperation({ summary: 'Read the status of an income session' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: IncomeStatusResult })
  async status(
    @Param('income_session_id') id: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<IncomeStatusResult> {
    const status = await this.statuses.findReadable(id, principal);
    if (!status) throw new DomainError('request.not_found');
    return incomeStatusResult(id, status, this.links);
  }

  @Get(':income_session_id/report')
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiOperation({ summary: 'The report of a completed income session' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: IncomeReportResult })
  async report(
    @Param('income_session_id') id: string,
    @CurrentContext() context: RequestContext,
  ): Promise<IncomeReportResult> {
    return incomeReportResult(await this.queries.execute(new ViewIncomeReport(id, 'own-and-children', context)));
  }
}
