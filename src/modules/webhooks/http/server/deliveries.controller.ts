import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ReadsOnly } from '../../../../platform/http/limited.js';
import { CurrentPrincipal, type Principal } from '../../../../platform/http/principal.js';
import { AccountLists, type ListRead, type ReadPage } from '../../../../published/account-lists.js';
import { Operation } from '../../../../surfaces/openapi/operation.js';
import { askedPage } from '../../../../surfaces/server/list-query.js';
import { DeliveryReader } from '../../read/deliveries.js';
import { EndpointReader } from '../../read/endpoints.js';
import { deliveryResult } from '../dashboard/delivery-results.js';
import { DeliveryListQuery, DeliveryListResult } from './delivery-list.js';

type Delivery = Parameters<typeof deliveryResult>[0];

/** The deliveries to the endpoint of the account or of a direct child, for servers with a secret key (docs/contract/server.md#lists). */
@ApiTags('webhooks')
@ApiSecurity('secret-key')
@Controller('v1/webhook-deliveries')
export class ServerDeliveriesController {
  constructor(
    private readonly endpoints: EndpointReader,
    private readonly deliveries: DeliveryReader,
    private readonly lists: AccountLists,
  ) {}

  @Get()
  @ReadsOnly()
  @Header('cache-control', 'no-store')
  @Operation({
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries to the webhook endpoint in the last 30 days, the newest first',
    description: "The deliveries of the key's environment. `next_cursor` leads to the next page.",
    query: DeliveryListQuery,
    replies: { 200: DeliveryListResult },
    errors: ['request.not_found'],
  })
  list(@Query() query: DeliveryListQuery, @CurrentPrincipal() principal: Principal): Promise<DeliveryListResult> {
    const { status, event_type: eventType } = query;
    const filter = { ...(status !== undefined && { status }), ...(eventType !== undefined && { eventType }) };
    const read = async ({
      owner: { account, environment },
      part: { after, limit },
    }: ListRead): Promise<ReadPage<Delivery>> => {
      const endpoint = await this.endpoints.current(account);
      if (endpoint === null) return { items: [], total: 0, next: null };
      const before = after?.id ?? null;
      const page = await this.deliveries.page(endpoint.endpointId, { ...filter, environment }, before, limit);
      return { ...page, next: page.next === null ? null : { sort: '', id: page.next } };
    };
    return this.lists.page(askedPage(query, principal, 'webhook deliveries'), read, deliveryResult);
  }
}
