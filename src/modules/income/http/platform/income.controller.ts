import { Body, Controller, Get, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { clientAddressOf } from '../../../../platform/http/client-address.js';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { OpenIncomeSession } from '../../application/open-income-session.js';
import { ViewIncomeReport } from '../../application/view-income-report.js';
import { IncomeLinks } from '../../read/income-links.js';
import { IncomeStatusReader } from '../../read/income-status.js';
import { IncomeReportResult, incomeReportResult, IncomeStatusResult, incomeStatusResult } from './income-result.js';
import { inquiryOf, numbered, OpenIncomeBody } from './open-income-body.js';

/** Verification of income and employment on the platform API (docs/contract/platform.md#income-sessions). */
@ApiTags('income')
@ApiBearerAuth('platform-token')
@Controller('voie/sessions')
export class IncomeController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly statuses: IncomeStatusReader,
    private readonly links: IncomeLinks,
  ) {}

  @Post()
  @Limited({
    by: ['incomeSessionsPerScreening', 'incomeSessionsPerMinute', 'incomeSessionsPerMinutePerAccount', 'vendorShare'],
  })
  @ApiOperation({ summary: 'Verify income and employment' })
  @HttpCode(200)
  @ApiBody({ type: OpenIncomeBody, required: false })
  @ApiOkResponse({ type: IncomeStatusResult })
  async open(
    @Body() body: OpenIncomeBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<IncomeStatusResult> {
    const inquiry = inquiryOf(body);
    const grantId = request.principal?.grantId ?? null;
    // If the request has an idempotency key, the id is derived from it. A request that is repeated after a crash then opens the same session.
    const name = numbered(body, grantId) ?? nameFor(request);
    const id = await this.commands.execute(
      new OpenIncomeSession(
        { incomeSessionId: name, inquiry, grantId, clientAddress: clientAddressOf(request) },
        context,
      ),
    );
    return this.present(id, context);
  }

  @Get(':id/status')
  @ReadsOnly()
  @ApiOperation({ summary: 'Read the status of an income session' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: IncomeStatusResult })
  status(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<IncomeStatusResult> {
    return this.present(id, principal);
  }

  @Get(':id/report')
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiOperation({ summary: 'The report of a completed income session' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: IncomeReportResult })
  async report(@Param('id') id: string, @CurrentContext() context: RequestContext): Promise<IncomeReportResult> {
    return incomeReportResult(await this.queries.execute(new ViewIncomeReport(id, 'own', context)));
  }

  private async present(
    id: string,
    reader: Pick<Principal, 'accountId' | 'environment' | 'grantId'>,
  ): Promise<IncomeStatusResult> {
    const status = await this.statuses.findOwn(id, reader);
    if (!status) throw new DomainError('request.not_found');
    return incomeStatusResult(id, status, this.links);
  }
}
