// Reports of renters for agents and organizations (docs/contract/direct.md#links). Every path has an older spelling that begins with the renter.
import { Body, Controller, Delete, Get, Injectable, Param, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { success } from '../../../../surfaces/direct/envelope.js';
import { ofLink, ofReport } from '../../../../surfaces/direct/operations.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ApiReadPurpose, CurrentReadContext } from '../../../../surfaces/wire/read-purpose.js';
import type { NamedParty } from '../../application/party-reports.js';
import { LinkReport } from '../../application/link-report.js';
import { OpenLinkedReport } from '../../application/open-linked-report.js';
import { ReadCreditScore } from '../../application/read-credit-score.js';
import { UnlinkReport } from '../../application/unlink-report.js';
import { neverCached } from '../platform/report-reply.js';
import { LinkBody } from './link-body.js';
import { ApiReportQuery, CurrentPartyReading, type PartyReading } from './report-query.js';
import {
  CreditScoreResult,
  LINK_ERRORS,
  LinkResult,
  PARTY_REPORT,
  PULL_ERRORS,
  QUERY_ERRORS,
} from './report-result.js';

@Injectable()
abstract class LinksController {
  protected abstract readonly kind: NamedParty['kind'];

  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Put()
  @Limited({ by: ['sharesPerMinute', 'vendorShare'] })
  @ApiReadPurpose()
  @Operation({
    id: ofLink('linkReportTo'),
    summary: 'Link the report of a renter',
    description:
      'The agent or the organization may read the report from now on. The first link pulls it from the bureau.',
    body: LinkBody,
    replies: { 200: LinkResult },
    errors: [...LINK_ERRORS, ...PULL_ERRORS, 'party.not_confirmed', 'party.recipient_not_authenticated'],
  })
  async link(
    @Param('recipientId') id: string,
    @Param('renterId') renterId: string,
    @Body() _checked: LinkBody,
    @CurrentReadContext() context: RequestContext,
  ): Promise<LinkResult> {
    await this.commands.execute(new LinkReport({ kind: this.kind, id }, renterId, context));
    return success({ success: true });
  }

  @Delete()
  @Limited({ by: ['sharesPerMinute'] })
  @Operation({
    id: ofLink('unlinkReportFrom'),
    summary: 'Unlink the report of a renter; may be repeated',
    description: 'The agent or the organization may no longer read the report.',
    replies: { 200: LinkResult },
    errors: LINK_ERRORS,
  })
  async unlink(
    @Param('recipientId') id: string,
    @Param('renterId') renterId: string,
    @CurrentContext() context: RequestContext,
  ): Promise<LinkResult> {
    await this.commands.execute(new UnlinkReport({ kind: this.kind, id }, renterId, context));
    return success({ success: true });
  }

  @Get(['report', ''])
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiReportQuery()
  @Operation({
    id: ofReport(ofLink('readReportFor')),
    summary: 'Read the linked report of a renter. The path without `/report` is the older spelling',
    description: "The bureau's own report, as JSON or as a page. Nothing is pulled.",
    replies: { 200: PARTY_REPORT },
    errors: [
      ...LINK_ERRORS,
      ...QUERY_ERRORS,
      'party.recipient_not_authenticated',
      'party.report_not_linked',
      'party.link_over',
      'report.purpose_not_certified',
      'party.not_confirmed',
      'report.expired',
    ],
  })
  async open(
    @Param('recipientId') id: string,
    @Param('renterId') renterId: string,
    @CurrentPartyReading() { context, query, answered }: PartyReading,
  ): Promise<string> {
    const opening = new OpenLinkedReport({ recipient: { kind: this.kind, id }, renterId, query }, context);
    return answered(await this.queries.execute(opening));
  }

  @Get('credit-score')
  @Limited({ by: ['reportReadsPerMinute'] })
  @ApiReadPurpose()
  @Operation({
    id: ofLink('readCreditScoreFor'),
    summary: 'Read the score of the linked report of a renter',
    description: 'Null where the agent or the organization may not read the report.',
    replies: { 200: CreditScoreResult },
    errors: [...LINK_ERRORS, 'report.purpose_not_certified'],
  })
  async creditScore(
    @Param('recipientId') id: string,
    @Param('renterId') renterId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
    @CurrentReadContext() context: RequestContext,
  ): Promise<CreditScoreResult> {
    neverCached(reply);
    const reading = new ReadCreditScore({ kind: this.kind, id }, renterId, context);
    return success({ creditScore: await this.queries.execute(reading) });
  }
}

@ApiTags('links')
@ApiSecurity('api-key')
@Controller(['api/idv/agents/:recipientId/renters/:renterId', 'api/idv/renters/:renterId/agents/:recipientId'])
export class AgentLinksController extends LinksController {
  protected override readonly kind = 'agent';
}

@ApiTags('links')
@ApiSecurity('api-key')
@Controller([
  'api/idv/organizations/:recipientId/renters/:renterId',
  'api/idv/renters/:renterId/organizations/:recipientId',
])
export class OrganizationLinksController extends LinksController {
  protected override readonly kind = 'organization';
}
