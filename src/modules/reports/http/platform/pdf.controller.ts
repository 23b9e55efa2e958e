import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Limited } from '../../../../platform/http/limited.js';
import { FetchPdf } from '../../application/fetch-pdf.js';

/** PDFs behind signed links. The links need no token: browsers and mail programs follow the link, and the link's signature is the credential. */
@ApiTags('reports')
@Controller('reports/pdf')
export class PdfController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':file')
  @Limited({ not: 'it only reads' })
  @RouteConfig({ authenticator: null, pdf: true })
  @ApiOperation({ summary: 'Fetch a printed report' })
  @ApiOkResponse({ content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } } })
  async fetch(
    @Param('file') fileId: string,
    @Query('expires') expires: unknown,
    @Query('signature') signature: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { filename, content } = await this.queries.execute(new FetchPdf({ fileId, expires, signature }));
    void reply
      .header('content-type', 'application/pdf')
      .header('content-disposition', `attachment; filename="${filename}"`);
    return Buffer.from(content);
  }
}
