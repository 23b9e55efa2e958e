import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Limited } from '../../../../platform/http/limited.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { FetchPdf } from '../../application/fetch-pdf.js';

/** PDFs behind signed links. The links need no token: browsers and mail programs follow the link, and the link's signature is the credential. */
@ApiTags('reports')
@Controller('reports/pdf')
export class PdfController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':file')
  @Limited({ not: 'it only reads' })
  @RouteConfig({ authenticator: null, pdf: true })
  @ApiQuery({ name: 'expires', required: true, type: String, description: 'From the address of the printed report' })
  @ApiQuery({ name: 'signature', required: true, type: String, description: 'From the address of the printed report' })
  @Operation({
    id: 'fetchPdf',
    summary: 'Fetch a printed report',
    description: 'The address of a printed report holds its own credential. It is good until `expiresAt`.',
    replies: { 200: { 'application/pdf': 'bytes' } },
    errors: ['report.access_denied'],
  })
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
