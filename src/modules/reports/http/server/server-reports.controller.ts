import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../../../kernel/clock.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { AccountLists } from '../../../../published/account-lists.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { askedPage } from '../../../../surfaces/server/list-query.js';
import { ApiReadPurpose } from '../../../../surfaces/wire/read-purpose.js';
import { OpenReportOnServer } from '../../application/open-report-on-server.js';
import { ReportSharesReader } from '../../read/report-shares.js';
import { CurrentReading, type ReportReading } from '../platform/report-reply.js';
import { ApiPageLanguage, REPORT, REPORT_CHECKS, REPORT_PULL } from '../platform/report-result.js';
import { sharedReport, SharedReportListResult, SharedReportsQuery } from './shared-reports.js';

/** Reports for servers with a secret key: the account's own and its direct children's (docs/contract/server.md#readable-sessions). */
@ApiTags('reports')
@ApiSecurity('secret-key')
@Controller('v1/reports')
export class ServerReportsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly shares: ReportSharesReader,
    private readonly lists: AccountLists,
    private readonly clock: Clock,
  ) {}

  @Get()
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'listSharedReports',
    summary: 'List the reports that were shared with the account or a direct child, the newest first',
    description:
      'Lists shares, also revoked and expired ones, and shows no report. `next_cursor` leads to the next page.',
    query: SharedReportsQuery,
    replies: { 200: SharedReportListResult },
    errors: ['request.not_found'],
  })
  list(@Query() query: SharedReportsQuery, @CurrentPrincipal() principal: Principal): Promise<SharedReportListResult> {
    return this.lists.page(
      askedPage(query, principal, 'shared reports'),
      ({ owner, part }) => this.shares.sharedWith(owner, part),
      // A share follows the clock of the session's account.
      async (listed) =>
        sharedReport(listed, await this.clock.of({ ...listed.doc, environment: principal.environment })),
    );
  }

  @Get(':session_id')
  @Limited({ by: ['reportReadsPerMinute', 'vendorShare'] })
  @ApiPageLanguage()
  @ApiReadPurpose()
  @Operation({
    id: 'readReportOnServer',
    summary: 'Read the report of a screening session',
    description:
      'The report of a session of the account or of a direct child. The first read pulls it from the bureau.',
    replies: { 200: REPORT },
    errors: [...REPORT_CHECKS, ...REPORT_PULL, 'request.not_acceptable'],
  })
  async open(
    @Param('session_id') sessionId: string,
    @CurrentReading() { context, format, answered }: ReportReading,
  ): Promise<Buffer | string> {
    const opened = await this.commands.execute(new OpenReportOnServer(sessionId, format, context));
    return answered(opened);
  }
}
