// The list of webhook deliveries for servers (docs/contract/server.md#lists).
import { ApiProperty } from '@nestjs/swagger';
import { AccountQuery, ListResult, OneOf } from '../../../../surfaces/server/list-query.js';
import { DELIVERY_STATUSES } from '../../read/delivery-log.js';
import { LOGGED_TYPES } from '../dashboard/deliveries-query.js';
import { DeliveryResult } from '../dashboard/delivery-results.js';

export class DeliveryListQuery extends AccountQuery {
  @OneOf(DELIVERY_STATUSES)
  readonly status?: (typeof DELIVERY_STATUSES)[number];

  @OneOf(LOGGED_TYPES)
  readonly event_type?: string;
}

export class DeliveryListResult extends ListResult {
  @ApiProperty({ type: [DeliveryResult], description: 'Newest first' })
  readonly data!: DeliveryResult[];
}
