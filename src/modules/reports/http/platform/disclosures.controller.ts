import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { FindDisclosedSession } from '../../application/find-disclosed-session.js';
import { DisclosuresReader } from '../../read/disclosures.js';
import { disclosuresResult, DisclosuresResult } from './disclosures-result.js';
import { ApiPageLanguage } from './report-result.js';

/** The person sees who has read the report, and why (docs/contract/platform.md#disclosures). */
@ApiTags('reports')
@ApiBearerAuth('platform-token')
@Controller('screening')
export class DisclosuresController {
  constructor(
    private readonly queries: QueryBus,
    private readonly disclosures: DisclosuresReader,
  ) {}

  @Get(':id/disclosures')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @ApiPageLanguage()
  @Operation({
    id: 'readDisclosures',
    summary: "Who has read the session's report, with whom it is shared, its sources, and the person's rights",
    description: 'Reads only. Each share that has not ended has the request that stops it.',
    replies: { 200: DisclosuresResult },
    errors: ['screening.not_found'],
  })
  async read(
    @Param('id') id: string,
    @Query('language') language: unknown,
    @CurrentContext() context: RequestContext,
  ): Promise<DisclosuresResult> {
    const session = await this.queries.execute(new FindDisclosedSession(id, 'own', context));
    return disclosuresResult(await this.disclosures.of(session), language === 'es' ? language : 'en');
  }
}
