import { Body, Controller, Get, Header, Param, Post, Req } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
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
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ApiReadPurpose, CurrentReadContext } from '../../../../surfaces/wire/read-purpose.js';
import { OpenIncomeSession } from '../../application/open-income-session.js';
import { ViewIncomeReport } from '../../application/view-income-report.js';
import { IncomeLinks } from '../../read/income-links.js';
import { IncomeStatusReader } from '../../read/income-status.js';
import { IncomeReportResult, incomeReportResult, IncomeStatusResult, incomeStatusResult } from './income-result.js';
import { consentIn, inquiryOf, numbered, OpenIncomeBody } from './open-income-body.js';

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
  @Operation({
    id: 'openIncomeSession',
    summary: 'Verify income and employment',
    description: 'Opens an income session. Its routes are tried in order, and webhooks tell of the end.',
    body: OpenIncomeBody,
    bodyIsOptional: true,
    replies: { 200: IncomeStatusResult },
    errors: ['screening.not_found', 'request.not_found', 'account.not_live'],
  })
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
        { incomeSessionId: name, inquiry, grantId, clientAddress: clientAddressOf(request), consent: consentIn(body) },
        context,
      ),
    );
    return this.present(id, context);
  }

  @Get(':id/status')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readIncomeStatus',
    summary: 'Read the status of an income session',
    description: 'Reads only.',
    replies: { 200: IncomeStatusResult },
    errors: ['request.not_found'],
  })
  status(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<IncomeStatusResult> {
    return this.present(id, principal);
  }

  @Get(':id/report')
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiReadPurpose()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readIncomeReport',
    summary: 'The report of a completed income session',
    description: 'Employers, income and paystubs. A session that is not complete has no report.',
    replies: { 200: IncomeReportResult },
    errors: ['request.not_found', 'income.report_not_ready', 'report.purpose_not_certified'],
  })
  async report(@Param('id') id: string, @CurrentReadContext() context: RequestContext): Promise<IncomeReportResult> {
    return incomeReportResult(await this.queries.execute(new ViewIncomeReport(id, 'own', context)));
  }

  private async present(
    id: string,
    reader: Pick<Principal, 'accountId' | 'environment' | 'grantId'>,
  ): Promise<IncomeStatusResult> {
    const status = await this.statuses.findOwn(id, reader);
    if (!status) throw new DomainError('request.not_found');
    return incomeStatusResult(id, status, this.links, await this.statuses.userActionOf(id, status));
  }
}
