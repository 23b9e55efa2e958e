import { Body, Controller, Delete, Get, Header, Param, Post, Put, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
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
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { ChangeEndpoint } from '../../application/change-endpoint.js';
import { DeleteEndpoint } from '../../application/delete-endpoint.js';
import { EndpointSecrets } from '../../application/endpoint-secrets.js';
import { PingEndpoint } from '../../application/ping-endpoint.js';
import { RegisterEndpoint } from '../../application/register-endpoint.js';
import { RotateSecret } from '../../application/rotate-secret.js';
import { EndpointReader, type EndpointView } from '../../read/endpoints.js';
import { MissedEventsReader } from '../../read/missed-events.js';
import {
  ChangeEndpointBody,
  changeOf,
  CreateEndpointBody,
  eventsOf,
  overlapOf,
  RotateSecretBody,
  signaturesOf,
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
    private readonly missed: MissedEventsReader,
  ) {}

  @Post()
  @Limited({ by: ['endpointChangesPerHour'] })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'createEndpoint',
    summary: 'Register the endpoint of the account. It replaces a disabled endpoint',
    description: 'Only this reply shows the secret.',
    body: CreateEndpointBody,
    replies: { 201: CreatedEndpointResult },
    errors: ['request.forbidden', 'webhook.endpoint_exists', 'webhook.url_invalid'],
  })
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
          signatures: signaturesOf(body.signatures),
          maxPerSecond: body.max_per_second ?? null,
          disabled: body.disabled ?? false,
        },
        context,
      ),
    );
    return { ...(await this.present(endpointId, context)), secret };
  }

  @Get()
  @ReadsOnly()
  @Operation({
    id: 'listEndpoints',
    summary: 'The endpoints of the account: one, or none',
    description: 'Reads only.',
    replies: { 200: [EndpointResult] },
    errors: ['request.forbidden'],
  })
  async list(@CurrentPrincipal() principal: Principal): Promise<EndpointResult[]> {
    const endpoint = await this.endpoints.find(principal.accountId);
    return endpoint === null ? [] : [await this.show(endpoint, principal)];
  }

  @Put(':id')
  @Limited({ by: ['endpointChangesPerHour'] })
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  @Operation({
    id: 'changeEndpoint',
    summary: 'Change the given fields, and make a disabled endpoint active again. An empty body does only the latter',
    description: 'An absent field stays as it is. Null takes a choice back.',
    body: ChangeEndpointBody,
    bodyIsOptional: true,
    replies: { 200: EndpointResult },
    errors: ['request.forbidden', 'webhook.endpoint_not_found', 'webhook.url_invalid'],
  })
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
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'rotateSecret',
    summary: 'Make a new secret that signs at once. The previous one signs as well for a while',
    description:
      'Only this reply shows the new secret. An endpoint has at most two. With `v1a`, the account gets a new key pair too.',
    body: RotateSecretBody,
    bodyIsOptional: true,
    replies: { 200: RotatedSecretResult },
    errors: ['request.forbidden', 'webhook.endpoint_not_found'],
  })
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
  @Operation({
    id: 'deleteEndpoint',
    summary: 'Delete the endpoint and cancel its pending deliveries',
    description: 'Its delivery log is kept and no longer shown.',
    replies: { 204: null },
    errors: ['request.forbidden', 'webhook.endpoint_not_found'],
  })
  async delete(@Param('id') id: string, @CurrentContext() context: RequestContext): Promise<void> {
    await this.commands.execute(new DeleteEndpoint(id, context));
  }

  @Post(':id/test')
  @Limited({ by: ['pingsPerSecond'] })
  @Operation({
    id: 'pingEndpoint',
    summary: 'Send a signed ping now and wait for the answer',
    description: 'The reply is 200 whatever the receiver answers.',
    replies: { 200: PingResult },
    errors: ['request.forbidden', 'webhook.endpoint_not_found', 'webhook.endpoint_disabled'],
  })
  async test(@Param('id') id: string, @CurrentContext() context: RequestContext): Promise<PingResult> {
    return pingResult(await this.commands.execute(new PingEndpoint(id, context)));
  }

  private async present(id: string, owner: RequestContext): Promise<EndpointFields> {
    const endpoint = await this.endpoints.find(owner.accountId, id);
    if (endpoint === null) throw new DomainError('webhook.endpoint_not_found');
    return this.show(endpoint, owner);
  }

  private async show(
    endpoint: EndpointView,
    owner: Pick<Principal, 'accountId' | 'environment'>,
  ): Promise<EndpointFields> {
    return endpointResult(
      endpoint,
      endpoint.notifies ? await this.secrets.contact(owner.accountId, endpoint.endpointId) : null,
      await this.missed.of(endpoint, owner),
    );
  }
}
