import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { OpenReportOnServer } from '../../application/open-report-on-server.js';
import { ServedPages } from '../../application/served-pages.js';
import { formatFor, reportReply } from '../platform/report-reply.js';
import { ApiReport } from '../platform/report-result.js';

/** Reports for servers with a secret key: the account's own and its direct children's (docs/contract/server.md#readable-sessions). */
@ApiTags('reports')
@ApiSecurity('secret-key')
@Controller('v1/reports')
export class ServerReportsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly pages: ServedPages,
  ) {}

  @Get(':session_id')
  @Limited({ by: ['reportReadsPerMinute', 'vendorShare'] })
  @ApiOperation({ summary: 'Read the report of a screening session' })
  @ApiReport()
  async open(
    @Param('session_id') sessionId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @CurrentContext() context: RequestContext,
  ): Promise<Buffer | string> {
    const format = formatFor(request, reply);
    const opened = await this.commands.execute(new OpenReportOnServer(sessionId, format, context));
    return reportReply(opened, format, reply, this.pages);
  }
}
