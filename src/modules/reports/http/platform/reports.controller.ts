import { Body, Controller, Get, Header, Param, Post, Req } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
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
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ApiReadPurpose } from '../../../../surfaces/wire/read-purpose.js';
import { ConsentToShare } from '../../application/consent-to-share.js';
import { OpenReport } from '../../application/open-report.js';
import { ReadSharing } from '../../application/read-sharing.js';
import { RenderPdf } from '../../application/render-pdf.js';
import { RevokeSharing } from '../../application/revoke-sharing.js';
import type { NamedRecipient } from '../../application/share-recipient.js';
import { ReportSharesReader } from '../../read/report-shares.js';
import { MAX_PDF_BODY_BYTES, PdfBody, ShareBody } from './report-bodies.js';
import { CurrentReading, type ReportReading } from './report-reply.js';
import {
  ApiPageLanguage,
  PdfResult,
  REPORT,
  REPORT_CHECKS,
  REPORT_PULL,
  RevokeResult,
  ShareResult,
  SharingResult,
  sharingResult,
} from './report-result.js';

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
  @ApiPageLanguage()
  @ApiReadPurpose()
  @Operation({
    id: 'readReport',
    summary: 'Read the report of a screening session',
    description: 'The first read pulls the report from the bureau. As JSON or as a page, by the `Accept` header.',
    replies: { 200: REPORT },
    errors: [...REPORT_CHECKS, ...REPORT_PULL, 'request.not_acceptable'],
  })
  async open(
    @Param('id') id: string,
    @CurrentReading() { context, format, answered }: ReportReading,
  ): Promise<Buffer | string> {
    const opened = await this.commands.execute(new OpenReport(id, format, context));
    return answered(opened);
  }

  @Get(':id/sharing')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readSharing',
    summary: 'Whether the report is shared with the account that a consent would name',
    description: 'Reads only, and pulls nothing.',
    replies: { 200: SharingResult },
    errors: ['screening.not_found', 'request.forbidden'],
  })
  async sharing(
    @Param('id') id: string,
    @CurrentPrincipal() { grantId }: Principal,
    @CurrentContext() context: RequestContext,
  ): Promise<SharingResult> {
    return sharingResult(await this.queries.execute(new ReadSharing(id, grantId ?? null, context)));
  }

  @Post(':id/consent-to-share')
  @Limited({ by: ['sharesPerMinute', 'vendorShare'] })
  @Operation({
    id: 'shareReport',
    summary: 'Share the report, with the consent of the consumer',
    description: 'The recipient may read the report for 24 months. A repeated consent gives the same share.',
    body: ShareBody,
    bodyIsOptional: true,
    replies: { 200: ShareResult },
    errors: [...REPORT_CHECKS, ...REPORT_PULL, 'request.forbidden', 'sharing.already_revoked'],
  })
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
  @Operation({
    id: 'revokeSharing',
    summary: 'Revoke the consent for good, for the named account or else for all',
    description: 'A revoked share is never good again.',
    body: ShareBody,
    bodyIsOptional: true,
    replies: { 200: RevokeResult },
    errors: ['screening.not_found', 'sharing.not_found', 'sharing.already_revoked'],
  })
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
  @RouteConfig({ bodyLimit: MAX_PDF_BODY_BYTES })
  @Operation({
    id: 'printReport',
    summary: 'Print a rendered report as a PDF',
    description:
      'Prints a page that the service has rendered, without scripts and network. The reply has an address for some minutes.',
    body: PdfBody,
    replies: { 200: PdfResult },
    errors: [
      ...REPORT_CHECKS,
      'report.credit_exhausted',
      'report.expired',
      'report.printer_missing',
      'service.upstream_timeout',
    ],
  })
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
