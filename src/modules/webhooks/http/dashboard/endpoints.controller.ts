import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Put, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBearerAuth,
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { nameFor } from '../../../../platform/http/idempotency.js';
import { LARGE_BODY_BYTES } from '../../../../platform/http/json-limits.js';
import { NeedsPermission } from '../../../../platform/http/authentication.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { ChangeEndpoint } from '../../application/change-endpoint.js';
import { DeleteEndpoint } from '../../application/delete-endpoint.js';
import { EndpointSecrets } from '../../application/endpoint-secrets.js';
import { PingEndpoint } from '../../application/ping-endpoint.js';
import { RegisterEndpoint } from '../../application/register-endpoint.js';
import { RotateSecret } from '../../application/rotate-secret.js';
import { EndpointReader, type EndpointView } from '../../read/endpoints.js';
import {
  ChangeEndpointBody,
  changeOf,
  CreateEndpointBody,
  eventsOf,
  overlapOf,
  RotateSecretBody,
} from './endpoint-bodies.js';
import {
  CreatedEndpointResult,
  type EndpointFields,
  EndpointResult,
  endpointResult,
  PingResult,
  pingResult,
  RotatedSecretResult,
  rotatedSecretResult,
} from './endpoint-results.js';

/** An account's webhook endpoint (docs/contract/webhooks.md#endpoint). */
@ApiTags('webhooks')
@ApiBearerAuth('dashboard-token')
@Controller('tsp/webhooks')
@NeedsPermission('webhooks:manage')
export class EndpointsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly endpoints: EndpointReader,
    private readonly secrets: EndpointSecrets,
  ) {}

  @Post()
  @Limited({ by: ['endpointChangesPerHour'] })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @ApiOperation({ summary: 'Register the endpoint of the account. It replaces a disabled endpoint' })
  @Header('cache-control', 'no-store')
  @ApiBody({ type: CreateEndpointBody })
  @ApiCreatedResponse({ type: CreatedEndpointResult })
  async create(
    @Body() body: CreateEndpointBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<CreatedEndpointResult> {
    // If the request has an idempotency key, the id is derived from it, so that a repeated request after a crash gives the same endpoint.
    const endpointId = nameFor(request);
    const { secret } = await this.commands.execute(
      new RegisterEndpoint(
        {
          endpointId,
          url: body.url,
          enabledEvents: eventsOf(body.enabled_events),
          notifyEmail: body.notify_email ?? null,
        },
        context,
      ),
    );
    return { ...(await this.present(endpointId, context)), secret };
  }

  @Get()
  @ReadsOnly()
  @ApiOperation({ summary: 'The endpoints of the account: one, or none' })
  @ApiOkResponse({ type: [EndpointResult] })
  async list(@CurrentPrincipal() { accountId }: Principal): Promise<EndpointResult[]> {
    const endpoint = await this.endpoints.find(accountId);
    return endpoint === null ? [] : [await this.show(endpoint, accountId)];
  }

  @Put(':id')
  @Limited({ by: ['endpointChangesPerHour'] })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @ApiOperation({
    summary: 'Change the given fields, and make a disabled endpoint active again. An empty body does only the latter',
  })
  @ApiBody({ type: ChangeEndpointBody, required: false })
  @ApiOkResponse({ type: EndpointResult })
  async change(
    @Param('id') id: string,
    @Body() body: ChangeEndpointBody,
    @CurrentContext() context: RequestContext,
  ): Promise<EndpointResult> {
    await this.commands.execute(new ChangeEndpoint(id, changeOf(body), context));
    return this.present(id, context);
  }

  @Post(':id/rotate')
  @Limited({ by: ['endpointChangesPerHour'] })
  @ApiOperation({ summary: 'Make a new secret that signs at once. The previous one signs as well for a while' })
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiBody({ type: RotateSecretBody, required: false })
  @ApiOkResponse({ type: RotatedSecretResult })
  async rotate(
    @Param('id') id: string,
    @Body() body: RotateSecretBody,
    @CurrentContext() context: RequestContext,
    @Req() request: FastifyRequest,
  ): Promise<RotatedSecretResult> {
    return rotatedSecretResult(
      await this.commands.execute(
        new RotateSecret(
          { endpointId: id, secretId: nameFor(request), previousValidForSeconds: overlapOf(body) },
          context,
        ),
      ),
    );
  }

  @Delete(':id')
  @Limited({ by: ['endpointChangesPerHour'] })
  @ApiOperation({ summary: 'Delete the endpoint and cancel its pending deliveries' })
  @HttpCode(204)
  @ApiNoContentResponse()
  async delete(@Param('id') id: string, @CurrentContext() context: RequestContext): Promise<void> {
    await this.commands.execute(new DeleteEndpoint(id, context));
  }

  @Post(':id/test')
  @Limited({ by: ['pingsPerSecond'] })
  @ApiOperation({ summary: 'Send a signed ping now and wait for the answer' })
  @HttpCode(200)
  @ApiOkResponse({ type: PingResult })
  async test(@Param('id') id: string, @CurrentContext() context: RequestContext): Promise<PingResult> {
    return pingResult(await this.commands.execute(new PingEndpoint(id, context)));
  }

  private async present(id: string, { accountId }: RequestContext): Promise<EndpointFields> {
    const endpoint = await this.endpoints.find(accountId, id);
    if (endpoint === null) throw new DomainError('webhook.endpoint_not_found');
    return this.show(endpoint, accountId);
  }

  private async show(endpoint: EndpointView, accountId: string): Promise<EndpointFields> {
    return endpointResult(
      endpoint,
      endpoint.notifies ? await this.secrets.contact(accountId, endpoint.endpointId) : null,
    );
  }
}
