import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { DeliveryAttempts } from '../../ports/delivery-queue.js';
import { EventHandlers } from '../../ports/event-handlers.js';
import { Scheduler } from '../../ports/scheduler.js';
import { AttemptDeliveryHandler } from './application/attempt-delivery.js';
import { Attempts } from './application/attempts.js';
import { CancelDeliveryHandler } from './application/cancel-delivery.js';
import { ChangeEndpointHandler } from './application/change-endpoint.js';
import { DeleteEndpointHandler } from './application/delete-endpoint.js';
import { DisableOverdueEndpoint, DisableOverdueEndpointHandler } from './application/disable-overdue-endpoint.js';
import { DueDeliveries } from './application/due-deliveries.js';
import { EndpointSecrets } from './application/endpoint-secrets.js';
import { PingEndpointHandler } from './application/ping-endpoint.js';
import { RedeliverHandler } from './application/redeliver.js';
import { RegisterEndpointHandler } from './application/register-endpoint.js';
import { RotateSecretHandler } from './application/rotate-secret.js';
import { SettleDelivery, SettleDeliveryHandler } from './application/settle-delivery.js';
import { WhenDeliveryExhausted } from './application/when-delivery-exhausted.js';
import { OpenDeliveries, WhenEndpointEnded } from './application/when-endpoint-ended.js';
import { WhenEventPublished } from './application/when-event-published.js';
import { WhenHealthChanged } from './application/when-health-changed.js';
import { DeliveriesController } from './http/dashboard/deliveries.controller.js';
import { EndpointsController } from './http/dashboard/endpoints.controller.js';
import { DeliveryReader } from './read/deliveries.js';
import { EndpointReader } from './read/endpoints.js';

/** What is due this moment is in the hands of the queue; the sweep takes what was left lying. */
const LEFT_LYING_MS = 2_000;

/**
 * Needs from the composition root: the ports WebhookSender, WebhookAddressRules, DeliveryQueue, MailSender, EventHandlers,
 * Scheduler, EventStore, Vault and ReadModels (with the projections `endpointProjection` and `deliveryLog`), AggregateStore and
 * Clock, BearerTokens and IdempotencyRecords for the door, PublishedEvents with what all modules publish, and the option
 * WebhookPolicy. Provides DeliveryAttempts for the queue's workers. Exports the readers for metrics.
 */
@Module({
  controllers: [EndpointsController, DeliveriesController],
  providers: [
    Attempts,
    EndpointSecrets,
    DeliveryReader,
    EndpointReader,
    { provide: DeliveryAttempts, useClass: DueDeliveries },
    { provide: OpenDeliveries, useExisting: DeliveryReader },
    RegisterEndpointHandler,
    ChangeEndpointHandler,
    RotateSecretHandler,
    DeleteEndpointHandler,
    PingEndpointHandler,
    DisableOverdueEndpointHandler,
    AttemptDeliveryHandler,
    SettleDeliveryHandler,
    CancelDeliveryHandler,
    RedeliverHandler,
    WhenEventPublished,
    WhenDeliveryExhausted,
    WhenEndpointEnded,
    WhenHealthChanged,
  ],
  exports: [DeliveryReader, EndpointReader],
})
export class WebhooksModule {
  constructor(
    reactions: EventHandlers,
    published: WhenEventPublished,
    exhausted: WhenDeliveryExhausted,
    ended: WhenEndpointEnded,
    health: WhenHealthChanged,
    timers: Scheduler,
    commands: CommandBus,
    deliveries: DeliveryReader,
    endpoints: EndpointReader,
    clock: Clock,
  ) {
    for (const reaction of [published, exhausted, ended, health]) reactions.on(reaction);
    scheduleRecovery(timers, {
      name: 'webhook-delivery-sweep',
      due: (limit) => deliveries.due(new Date(clock.now().getTime() - LEFT_LYING_MS), limit),
      settle: (id) => commands.execute(new SettleDelivery(id)),
    });
    scheduleRecovery(timers, {
      name: 'webhook-endpoint-sweep',
      due: (limit) => endpoints.due(clock.now(), limit),
      settle: (id) => commands.execute(new DisableOverdueEndpoint(id)),
    });
  }
}
