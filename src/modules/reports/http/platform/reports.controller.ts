import { Body, Controller, Get, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { clientAddressOf } from '../../../../platform/http/client-address.js';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { ConsentToShare } from '../../application/consent-to-share.js';
import { OpenReport } from '../../application/open-report.js';
import { ReadSharing } from '../../application/read-sharing.js';
import { RenderPdf } from '../../application/render-pdf.js';
import { RevokeSharing } from '../../application/revoke-sharing.js';
import type { NamedRecipient } from '../../application/share-recipient.js';
import { ReportSharesReader } from '../../read/report-shares.js';
import { MAX_PDF_BODY_BYTES, PdfBody, ShareBody } from './report-bodies.js';
import { CurrentReading, type ReportReading } from './report-reply.js';
import { ApiReport, PdfResult, RevokeResult, ShareResult, SharingResult, sharingResult } from './report-result.js';

/** Reports and their sharing on the platform API (docs/contract/platform.md#reports). */
@ApiTags('reports')
@ApiBearerAuth('platform-token')
@Controller('reports')
export class ReportsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly shares: ReportSharesReader,
  ) {}

  @Get(':id')
  @Limited({ by: ['reportReadsPerMinute', 'vendorShare'] })
  @ApiOperation({ summary: 'Read the report of a screening session' })
  @ApiReport()
  async open(
    @Param('id') id: string,
    @CurrentReading() { context, format, answered }: ReportReading,
  ): Promise<Buffer | string> {
    const opened = await this.commands.execute(new OpenReport(id, format, context));
    return answered(opened);
  }

  @Get(':id/sharing')
  @ReadsOnly()
  @ApiOperation({ summary: 'Whether the report is shared with the account that a consent would name' })
  @Header('cache-control', 'no-store')
  @ApiOkResponse({ type: SharingResult })
  async sharing(
    @Param('id') id: string,
    @CurrentPrincipal() { grantId }: Principal,
    @CurrentContext() context: RequestContext,
  ): Promise<SharingResult> {
    return sharingResult(await this.queries.execute(new ReadSharing(id, grantId ?? null, context)));
  }

  @Post(':id/consent-to-share')
  @Limited({ by: ['sharesPerMinute', 'vendorShare'] })
  @ApiOperation({ summary: 'Share the report, with the consent of the consumer' })
  @HttpCode(200)
  @ApiBody({ type: ShareBody, required: false })
  @ApiOkResponse({ type: ShareResult })
  async consent(
    @Param('id') id: string,
    @Body() body: ShareBody,
    @CurrentPrincipal() principal: Principal,
    @CurrentContext() context: RequestContext,
  ): Promise<ShareResult> {
    const { reportId, sessionId, recipientAccountId, status, sharedAt, expiresAt } = await this.commands.execute(
      new ConsentToShare(id, recipientOf(body, principal), context),
    );
    return { reportId, sessionId, recipientAccountId, status, sharedAt, expiresAt };
  }

  @Post(':id/revoke-sharing')
  @Limited({ by: ['sharesPerMinute'] })
  @ApiOperation({ summary: 'Revoke the consent for good, for the named account or else for all' })
  @HttpCode(200)
  @ApiBody({ type: ShareBody, required: false })
  @ApiOkResponse({ type: RevokeResult })
  async revoke(
    @Param('id') id: string,
    @Body() body: ShareBody,
    @CurrentContext() context: RequestContext,
  ): Promise<RevokeResult> {
    const named = body.recipientAccountId ?? null;
    const revoked = await this.commands.execute(
      new RevokeSharing(
        id,
        named === null ? { listedIds: await this.shares.idsOf(id) } : { recipientAccountId: named },
        context,
      ),
    );
    const [{ reportId, sessionId, recipientAccountId, status, revokedAt }] = revoked;
    return {
      reportId,
      sessionId,
      recipientAccountId,
      status,
      revokedAt,
      ...(named === null && { recipientAccountIds: revoked.map((each) => each.recipientAccountId) }),
    };
  }

  @Post(':id/pdf')
  @Limited({ by: ['pdfsPerMinute'] })
  @ApiOperation({ summary: 'Print a rendered report as a PDF' })
  @HttpCode(200)
  @RouteConfig({ bodyLimit: MAX_PDF_BODY_BYTES })
  @ApiBody({ type: PdfBody })
  @ApiOkResponse({ type: PdfResult })
  pdf(
    @Param('id') id: string,
    @Body() body: PdfBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<PdfResult> {
    const page = { html: body.html, filename: body.filename ?? null };
    return this.commands.execute(
      new RenderPdf(
        { sessionId: id, fileId: nameFor(request), page, clientAddress: clientAddressOf(request) },
        context,
      ),
    );
  }
}

function recipientOf({ recipientAccountId }: ShareBody, { grantId }: Principal): NamedRecipient {
  return { grantId: grantId ?? null, recipientAccountId: recipientAccountId ?? null };
}
