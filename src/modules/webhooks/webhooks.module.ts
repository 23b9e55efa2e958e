import { Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { HttpSettings } from '../../config/http.js';
import { Limits } from '../../config/limits.js';
import { ProcessSettings, runs } from '../../config/process.js';
import { GroupedStream } from '../../platform/aggregates/grouped-stream.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { rolePart } from '../../platform/roles/role-part.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { declaredIn, EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { AccountWaits } from '../../ports/account-waits.js';
import { DeliveryAttempts } from '../../ports/delivery-queue.js';
import { ReadModels } from '../../ports/read-models.js';
import { Scheduler } from '../../ports/scheduler.js';
import { Vault } from '../../ports/vault.js';
import { PublishedEvents, publishedLinks } from '../../published/events.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AttemptDeliveryHandler } from './application/attempt-delivery.js';
import { Attempts } from './application/attempts.js';
import { CancelDeliveryHandler } from './application/cancel-delivery.js';
import { ChangeEndpointHandler } from './application/change-endpoint.js';
import { CheckDeliveries, CheckDeliveriesHandler, MissingDeliveries } from './application/check-deliveries.js';
import { DeleteEndpointHandler } from './application/delete-endpoint.js';
import { DisableOverdueEndpoint, DisableOverdueEndpointHandler } from './application/disable-overdue-endpoint.js';
import { DueDeliveries } from './application/due-deliveries.js';
import { EndpointChanges, EndpointObserver } from './application/endpoint-changes.js';
import { EndpointWaits } from './application/endpoint-waits.js';
import { EndpointSecrets } from './application/endpoint-secrets.js';
import { PingEndpointHandler } from './application/ping-endpoint.js';
import { endpointPublisher } from './application/publish.js';
import { RedeliverHandler } from './application/redeliver.js';
import { RegisterEndpointHandler } from './application/register-endpoint.js';
import { ReplayEventsHandler } from './application/replay-events.js';
import { ResumeDeliveries, ResumeDeliveriesHandler } from './application/resume-deliveries.js';
import { RotateSecretHandler } from './application/rotate-secret.js';
import { SettleDelivery, SettleDeliveryHandler } from './application/settle-delivery.js';
import { testEventPublisher, TriggerTestEventHandler } from './application/trigger-test-event.js';
import { WebhookPolicy } from './application/webhook-policy.js';
import { WhenDeliveryExhausted } from './application/when-delivery-exhausted.js';
import { OpenDeliveries, WhenEndpointEnded } from './application/when-endpoint-ended.js';
import { WhenEventPublished } from './application/when-event-published.js';
import { WhenEventStored } from './application/when-event-stored.js';
import { WhenHealthChanged } from './application/when-health-changed.js';
import { WhenResumeEnded } from './application/when-resume-ended.js';
import { DeliveryReader } from './read/deliveries.js';
import { deliveryLog } from './read/delivery-log.js';
import { endpointProjection } from './read/endpoint-projection.js';
import { EndpointReader } from './read/endpoints.js';
import { FeedReader } from './read/feed.js';
import { MissedEventsReader } from './read/missed-events.js';
import { WebhookKeyReader } from './read/webhook-keys.js';

/** The queue makes attempts that have just become due. The recovery job handles attempts that have been due for longer than this. */
const LEFT_LYING_MS = 2_000;
const CHECKED_EVERY_MS = 3_600_000;

@Projections([endpointProjection, deliveryLog])
@Publishers([endpointPublisher, testEventPublisher])
@EventHandlers([
  WhenEventStored,
  WhenEventPublished,
  WhenDeliveryExhausted,
  WhenEndpointEnded,
  WhenHealthChanged,
  WhenResumeEnded,
])
@Module({
  imports: [AccountsModule, DiscoveryModule],
  providers: [
    Attempts,
    EndpointChanges,
    {
      provide: EndpointObserver,
      useFactory: (log: Log): EndpointObserver => ({
        changed: (news) => log.info(news, 'webhook endpoint changed'),
      }),
      inject: [Log],
    },
    {
      provide: MissingDeliveries,
      useFactory: (log: Log, metrics: Metrics): MissingDeliveries => ({
        made: (missing) => {
          metrics.webhookMissing.inc();
          log.warn(missing, 'webhook delivery was missing');
        },
      }),
      inject: [Log, Metrics],
    },
    EndpointSecrets,
    FeedReader,
    {
      provide: DeliveryReader,
      useFactory: (readModels: ReadModels, vault: Vault, lists: CompleteLists) =>
        new DeliveryReader(readModels, vault, lists),
      inject: [ReadModels, Vault, CompleteLists],
    },
    {
      provide: EndpointReader,
      useFactory: (streams: GroupedStream, readModels: ReadModels, deliveries: DeliveryReader) =>
        new EndpointReader(streams, readModels, deliveries),
      inject: [GroupedStream, ReadModels, DeliveryReader],
    },
    {
      provide: WebhookKeyReader,
      useFactory: (streams: GroupedStream, clock: Clock) => new WebhookKeyReader(streams, clock),
      inject: [GroupedStream, Clock],
    },
    {
      provide: MissedEventsReader,
      useFactory: (feeds: FeedReader, deliveries: DeliveryReader) => new MissedEventsReader(feeds, deliveries),
      inject: [FeedReader, DeliveryReader],
    },
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
    ReplayEventsHandler,
    ResumeDeliveriesHandler,
    CheckDeliveriesHandler,
    TriggerTestEventHandler,
    WhenEventStored,
    rolePart('worker', WhenEventStored, (handler) => ({
      prepare: () => handler.prepare(),
      start: () => undefined,
    })),
    WhenEventPublished,
    WhenDeliveryExhausted,
    WhenEndpointEnded,
    WhenHealthChanged,
    WhenResumeEnded,
    {
      provide: WebhookPolicy,
      useFactory: (limits: Limits, { egressIps }: HttpSettings): WebhookPolicy => ({
        timeoutSeconds: limits.webhookTimeout,
        redeliveryIntervalSeconds: limits.webhookRedeliveryInterval,
        pingsPerSecond: limits.pingsPerSecond,
        endpointChangesPerHour: limits.endpointChangesPerHour,
        testEventsPerHour: limits.testHelpersPerHour,
        egressIps,
        ladder: { ladder: limits.webhookRetryLadder, jitter: limits.webhookJitter },
        health: { failingAfter: limits.webhookFailingAfter, disableAfterSeconds: limits.webhookDisableAfter },
      }),
      inject: [Limits, HttpSettings],
    },
    {
      provide: PublishedEvents,
      useFactory: (discovery: DiscoveryService, { publicUrl, publicUrlConfigured }: HttpSettings): PublishedEvents => ({
        publishers: declaredIn(discovery, Publishers),
        links: publishedLinks(publicUrlConfigured ? publicUrl : null),
      }),
      inject: [DiscoveryService, HttpSettings],
    },
    EndpointWaits,
    {
      provide: AccountWaits,
      useFactory: (waits: EndpointWaits) => new AccountWaits((accountId, most) => waits.of(accountId, most)),
      inject: [EndpointWaits],
    },
    recoveryJob({
      name: 'webhook-delivery-sweep',
      inject: [DeliveryReader],
      due: (now, limit, deliveries) => deliveries.due(new Date(now.getTime() - LEFT_LYING_MS), limit),
      settle: (id) => new SettleDelivery(id),
    }),
    recoveryJob({
      name: 'webhook-resume',
      inject: [EndpointReader],
      due: (now, limit, endpoints) => endpoints.due(now, limit),
      settle: (id) => new ResumeDeliveries(id),
    }),
    recoveryJob({
      name: 'webhook-endpoint-sweep',
      inject: [EndpointReader],
      due: (now, limit, endpoints) => endpoints.due(now, limit),
      settle: (id) => new DisableOverdueEndpoint(id),
    }),
  ],
  exports: [
    EndpointReader,
    DeliveryReader,
    EndpointSecrets,
    FeedReader,
    MissedEventsReader,
    WebhookKeyReader,
    WebhookPolicy,
  ],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly endpoints: EndpointReader,
    private readonly process: ProcessSettings,
    private readonly metrics: Metrics,
    private readonly scheduler: Scheduler,
    private readonly commands: CommandBus,
  ) {}

  onModuleInit(): void {
    const { endpoints, process, metrics, scheduler, commands } = this;
    scheduler.every(
      'webhook-check',
      CHECKED_EVERY_MS,
      async () => void (await commands.execute(new CheckDeliveries())),
    );
    if (!runs(process, 'worker')) return;
    metrics.beforeScrape(async () => {
      for (const [status, count] of Object.entries(await endpoints.count()))
        metrics.webhookEndpoints.set({ status }, count);
    });
  }
}
