import { Body, Controller, DefaultValuePipe, Header, HttpCode, Post, UseInterceptors } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOkResponse, ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { AuthenticatedBy } from '../../../../platform/http/authentication.js';
import { ApiErrors, ApiIdempotent } from '../../../../platform/http/error-result.js';
import { IdempotencyInterceptor } from '../../../../platform/http/idempotency.interceptor.js';
import { CurrentContext, type RequestContext } from '../../../../platform/http/principal.js';
import { SecretKeyGuard } from '../../../../platform/http/secret-key.guard.js';
import { validBody } from '../../../../platform/http/valid-body.js';
import { IssueGrant } from '../../application/issue-grant.js';
import { grantResult, GrantResult, IssueGrantBody, wishesOf } from './grant-bodies.js';

/** Session grants, for the servers of integrating platforms (docs/contract/server.md#session-grants). */
@ApiTags('session grants')
@ApiSecurity('secret-key')
@ApiErrors()
@Controller('v1/sessions')
@AuthenticatedBy(SecretKeyGuard)
export class GrantsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @UseInterceptors(IdempotencyInterceptor)
  @ApiOperation({ summary: 'Mint a single-use grant for a session, for the own account or a direct child' })
  @ApiIdempotent()
  @ApiBody({ type: IssueGrantBody, required: false })
  @ApiOkResponse({ type: GrantResult })
  async mint(
    @Body(new DefaultValuePipe({}), validBody(IssueGrantBody)) body: IssueGrantBody,
    @CurrentContext() context: RequestContext,
  ): Promise<GrantResult> {
    return grantResult(await this.commands.execute(new IssueGrant(wishesOf(body), context)));
  }
}
