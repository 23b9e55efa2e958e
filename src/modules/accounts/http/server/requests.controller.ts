import { Controller, Get, Query } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { AccessKeyDirectory } from '../../read/access-keys.js';
import { RecentRequests } from '../../read/recent-requests.js';
import { filterOf, limitOf, requestList, RequestList, RequestsQuery } from './request-bodies.js';

/** The API requests of the account (docs/contract/server.md#request-log). */
@ApiTags('request log')
@ApiSecurity('secret-key')
@Controller('v1/requests')
export class RequestsController {
  constructor(
    private readonly requests: RecentRequests,
    private readonly keys: AccessKeyDirectory,
  ) {}

  @Get()
  // A developer who follows the log would push all other requests out of it.
  @ReadsOnly({ unnoted: true })
  @Operation({
    id: 'listRequests',
    summary: "The account's API requests of the key's environment, the oldest first",
    description: 'At most 30 days of them. No body and no value of a path is kept.',
    query: RequestsQuery,
    replies: { 200: RequestList },
    errors: [],
  })
  async list(@Query() query: RequestsQuery, @CurrentContext() context: RequestContext): Promise<RequestList> {
    const page = { after: query.after ?? null, limit: limitOf(query), filter: filterOf(query) };
    const read = await this.requests.read(context, page);
    const keys = read.requests.flatMap(({ keyId }) => keyId ?? []);
    return requestList(read, await this.keys.ownAmong(new Set(keys), context.accountId));
  }
}
