import { Body, Controller, Header, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { LARGE_BODY_BYTES } from '../../../../platform/http/json-limits.js';
import { Limited } from '../../../../platform/http/limited.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { IssueGrant } from '../../application/issue-grant.js';
import { grantResult, GrantResult, MintGrantBody, wishesOf } from './grant-bodies.js';

/** Session grants, for the servers of integrating platforms (docs/contract/server.md#session-grants). */
@ApiTags('session grants')
@ApiSecurity('secret-key')
@Controller('v1/sessions')
export class GrantsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Limited({ not: 'only a server of the account mints grants, and each is a session to come' })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'createSessionGrant',
    summary: 'Issue a single-use grant for a session of the own account or a direct child',
    description:
      'A page sends the token of the grant with its token exchange. The session is then bound by the terms of the grant.',
    body: MintGrantBody,
    bodyIsOptional: true,
    replies: { 200: GrantResult },
    errors: ['request.not_found', 'report.purpose_not_certified'],
  })
  async mint(@Body() body: MintGrantBody, @CurrentContext() context: RequestContext): Promise<GrantResult> {
    return grantResult(await this.commands.execute(new IssueGrant(wishesOf(body), context)));
  }
}
