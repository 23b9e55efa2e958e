import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal, type RequestContext } from '../../../../platform/http/principal.js';
import { AccountLists } from '../../../../published/account-lists.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { askedPage } from '../../../../surfaces/server/list-query.js';
import { ApiReadPurpose, CurrentReadContext } from '../../../../surfaces/wire/read-purpose.js';
import { ViewIncomeReport } from '../../application/view-income-report.js';
import { IncomeLinks } from '../../read/income-links.js';
import { IncomeStatusReader } from '../../read/income-status.js';
import {
  IncomeReportResult,
  incomeReportResult,
  IncomeStatusResult,
  incomeStatusResult,
} from '../platform/income-result.js';
import { IncomeListQuery, IncomeListResult } from './income-list.js';

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
    private readonly lists: AccountLists,
  ) {}

  @Get()
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'listIncomeSessions',
    summary: 'List the income sessions of the account or of a direct child, the newest first',
    description: 'Each entry is as the status of the session. `next_cursor` leads to the next page.',
    query: IncomeListQuery,
    replies: { 200: IncomeListResult },
    errors: ['request.not_found'],
  })
  list(@Query() query: IncomeListQuery, @CurrentPrincipal() principal: Principal): Promise<IncomeListResult> {
    const { status, external_id: externalId } = query;
    return this.lists.page(
      askedPage(query, principal, 'income sessions'),
      ({ owner, part }) => this.statuses.page({ ...owner, status, externalId }, part),
      ({ id, doc }) => incomeStatusResult(id, doc, this.links),
    );
  }

  @Get(':income_session_id/status')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readIncomeStatusOnServer',
    summary: 'Read the status of an income session',
    description: 'Income sessions of the account and of its direct children.',
    replies: { 200: IncomeStatusResult },
    errors: ['request.not_found'],
  })
  async status(
    @Param('income_session_id') id: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<IncomeStatusResult> {
    const status = await this.statuses.findReadable(id, principal);
    if (!status) throw new DomainError('request.not_found');
    return incomeStatusResult(id, status, this.links, await this.statuses.userActionOf(id, status));
  }

  @Get(':income_session_id/report')
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiReadPurpose()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readIncomeReportOnServer',
    summary: 'The report of a completed income session',
    description: 'Income sessions of the account and of its direct children.',
    replies: { 200: IncomeReportResult },
    errors: ['request.not_found', 'income.report_not_ready', 'report.purpose_not_certified'],
  })
  async report(
    @Param('income_session_id') id: string,
    @CurrentReadContext() context: RequestContext,
  ): Promise<IncomeReportResult> {
    return incomeReportResult(await this.queries.execute(new ViewIncomeReport(id, 'own-and-children', context)));
  }
}
