import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { WebhooksModule } from './webhooks.module.js';
import { DeliveriesController } from './http/dashboard/deliveries.controller.js';
import { EndpointsController } from './http/dashboard/endpoints.controller.js';
import { ServerDeliveriesController } from './http/server/deliveries.controller.js';
import { EgressIpsController } from './http/open/egress-ips.controller.js';
import { WebhookKeysController } from './http/open/webhook-keys.controller.js';
import { EventsController } from './http/server/events.controller.js';
import { TestEventsController } from './http/server/test-events.controller.js';

@Module({
  imports: [AccountsModule, WebhooksModule],
  controllers: [
    EndpointsController,
    DeliveriesController,
    EventsController,
    TestEventsController,
    ServerDeliveriesController,
    WebhookKeysController,
    EgressIpsController,
  ],
})
export class WebhookRoutesModule {}
