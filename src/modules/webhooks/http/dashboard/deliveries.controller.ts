import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { DomainError } from '../../../../kernel/domain-error.js';
import { NeedsPermission } from '../../../../platform/http/authentication.js';
import { Limited, ReadsOnly } from '../../../../platform/http/limited.js';
import {
  CurrentContext,
  CurrentPrincipal,
  type Principal,
  type RequestContext,
} from '../../../../platform/http/principal.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { Redeliver } from '../../application/redeliver.js';
import { DeliveryReader } from '../../read/deliveries.js';
import { EndpointReader } from '../../read/endpoints.js';
import { DeliveriesQuery, filterOf, limitOf, placeOf } from './deliveries-query.js';
import {
  DeliveryDetailResult,
  deliveryDetailResult,
  DeliveryPageResult,
  deliveryPageResult,
  RedeliveryResult,
} from './delivery-results.js';

/** The delivery log of an account's webhook endpoint (docs/contract/webhooks.md#deliveries). */
@ApiTags('webhooks')
@ApiBearerAuth('dashboard-token')
@Controller('tsp/webhooks/:id/deliveries')
@NeedsPermission('webhooks:manage')
export class DeliveriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly endpoints: EndpointReader,
    private readonly deliveries: DeliveryReader,
  ) {}

  @Get()
  @ReadsOnly()
  @Operation({
    id: 'listDeliveries',
    summary: 'The deliveries to the endpoint in the last 30 days, newest first',
    description: 'A page of the delivery log. `next_cursor` leads to the next page.',
    query: DeliveriesQuery,
    replies: { 200: DeliveryPageResult },
    errors: ['request.forbidden', 'webhook.endpoint_not_found'],
  })
  async list(
    @Param('id') id: string,
    @Query() query: DeliveriesQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeliveryPageResult> {
    await this.admit(id, principal);
    return deliveryPageResult(await this.deliveries.page(id, filterOf(query), placeOf(query.cursor), limitOf(query)));
  }

  @Get(':deliveryId')
  @ReadsOnly()
  @Operation({
    id: 'readDelivery',
    summary: 'A delivery with its attempts',
    description: 'Also a delivery that is no longer listed.',
    replies: { 200: DeliveryDetailResult },
    errors: ['request.forbidden', 'webhook.endpoint_not_found'],
  })
  async find(
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<DeliveryDetailResult> {
    await this.admit(id, principal);
    const logged = await this.deliveries.find(id, deliveryId);
    if (logged === null) throw new DomainError('webhook.endpoint_not_found');
    return deliveryDetailResult(logged, await this.deliveries.attemptsOf(logged));
  }

  @Post(':deliveryId/redeliver')
  @Limited({ by: ['webhookRedeliveryInterval'] })
  @Operation({
    id: 'redeliver',
    summary: 'Send a delivery again now, under the same event id; at most once a minute',
    description: 'It uses up none of the scheduled attempts.',
    replies: { 202: RedeliveryResult },
    errors: [
      'request.forbidden',
      'webhook.endpoint_not_found',
      'webhook.endpoint_disabled',
      'webhook.redelivery_too_soon',
    ],
  })
  async redeliver(
    @Param('id') id: string,
    @Param('deliveryId') deliveryId: string,
    @CurrentContext() context: RequestContext,
  ): Promise<RedeliveryResult> {
    const { eventId } = await this.commands.execute(new Redeliver(id, deliveryId, context));
    return { delivery_id: deliveryId, event_id: eventId, status: 'pending' };
  }

  private async admit(id: string, { accountId }: Principal): Promise<void> {
    if (!(await this.endpoints.has(accountId, id))) throw new DomainError('webhook.endpoint_not_found');
  }
}
