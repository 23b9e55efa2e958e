import { Controller, Get, Header, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { FindDisclosedSession } from '../../application/find-disclosed-session.js';
import { DisclosuresReader } from '../../read/disclosures.js';
import { serverDisclosures, ServerDisclosuresResult } from './server-disclosures.js';

/** The disclosures of a report, for servers with a secret key (docs/contract/server.md#disclosures). */
@ApiTags('reports')
@ApiSecurity('secret-key')
@Controller('v1/screenings')
export class ServerDisclosuresController {
  constructor(
    private readonly queries: QueryBus,
    private readonly disclosures: DisclosuresReader,
  ) {}

  @Get(':session_id/disclosures')
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'readDisclosuresOnServer',
    summary: "Who has read the session's report, with whom it is shared, and its sources",
    description: 'Sessions of the account and of its direct children. Reads only.',
    replies: { 200: ServerDisclosuresResult },
    errors: ['screening.not_found'],
  })
  async read(
    @Param('session_id') id: string,
    @CurrentContext() context: RequestContext,
  ): Promise<ServerDisclosuresResult> {
    const session = await this.queries.execute(new FindDisclosedSession(id, 'own-and-children', context));
    return serverDisclosures(await this.disclosures.of(session));
  }
}
