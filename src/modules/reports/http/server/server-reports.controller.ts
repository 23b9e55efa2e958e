import { Controller, Get, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Limited } from '../../../../platform/http/limited.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { OpenReportOnServer } from '../../application/open-report-on-server.js';
import { CurrentReading, type ReportReading } from '../platform/report-reply.js';
import { ApiPageLanguage, REPORT, REPORT_CHECKS, REPORT_PULL } from '../platform/report-result.js';

/** Reports for servers with a secret key: the account's own and its direct children's (docs/contract/server.md#readable-sessions). */
@ApiTags('reports')
@ApiSecurity('secret-key')
@Controller('v1/reports')
export class ServerReportsController {
  constructor(private readonly commands: CommandBus) {}

  @Get(':session_id')
  @Limited({ by: ['reportReadsPerMinute', 'vendorShare'] })
  @ApiPageLanguage()
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
