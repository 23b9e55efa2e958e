// The composition root: the only file that picks adapters.
import { join } from 'node:path';
import { BullModule } from '@nestjs/bullmq';
import {
  type Abstract,
  type DynamicModule,
  Global,
  Injectable,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { Redis } from 'ioredis';
import {
  DeliveryQueueModule,
  DeliveryWorkers,
  DeliveryWorkersModule,
} from './adapters/delivery-queue/delivery-queue.module.js';
import { DiskSpace, type DiskSpaceObserver } from './adapters/disk-space.js';
import { DiskCredentialsFile } from './adapters/credentials-file/disk.js';
import { ReplacedFile } from './adapters/durable-files.js';
import { EmbeddedEventStore } from './adapters/event-store/embedded.js';
import { ReadOnlyEventStore } from './adapters/event-store/read-only.js';
import type { SpaceUsage } from './adapters/lmdb/space.js';
import { RedisIdempotencyRecords } from './adapters/idempotency-records/redis.js';
import { SmtpMailSender } from './adapters/mail-sender/smtp.js';
import { RedisHandlerCheckpoints } from './adapters/handler-checkpoints/redis.js';
import { RedisRateLimiter } from './adapters/rate-limiter/redis.js';
import { RedisProjectionStore } from './adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from './adapters/read-models/redis.js';
import { RedisTemporaryFiles } from './adapters/temporary-files/redis.js';
import { coalesceWrites } from './adapters/redis/coalesced-writes.js';
import { BullMqScheduler } from './adapters/scheduler/bullmq.js';
import { developmentSigningKeys } from './adapters/token-keys/development-key.js';
import { Es256TokenKeys } from './adapters/token-keys/es256.js';
import { developmentMasterKey } from './adapters/vault/development-key.js';
import { DiskVault } from './adapters/vault/disk.js';
import { applyLedger, ErasureLedger, OtherLedger } from './adapters/vault/erasure-ledger.js';
import { GuardedVault } from './adapters/vault/guarded.js';
import { MasterKeys, MasterKeysMissing } from './adapters/vault/master-keys.js';
import { VendorsModule } from './adapters/vendors.module.js';
import { AddressRules } from './adapters/webhook-sender/address-rules.js';
import { HttpsWebhookSender } from './adapters/webhook-sender/https.js';
import type { S3Vault } from './adapters/vault/s3.js';
import { Config, InvalidConfig, runs } from './config.js';
import { recordErasures } from './ops/erasure-evidence.js';
import { Clock, SystemClock } from './kernel/clock.js';
import { newId } from './kernel/ids.js';
import { Unavailable } from './kernel/unavailable.js';
import { AccountsModule } from './modules/accounts/accounts.module.js';
import { SeedDemoAccounts } from './modules/accounts/application/seed-demo-accounts.js';
import { TokenOptions } from './modules/accounts/application/exchange-token.js';
import { GrantOptions } from './modules/accounts/application/issue-grant.js';
import { accessKeyProjection } from './modules/accounts/read/access-keys.js';
import { unusedDetails } from './modules/accounts/read/unused-details.js';
import { accountProjection, AccountsOptions } from './modules/accounts/read/accounts.js';
import { IncomePolicy } from './modules/income/application/income-policy.js';
import { incomePublisher } from './modules/income/application/publish.js';
import { IncomeModule } from './modules/income/income.module.js';
import { IncomeLinks } from './modules/income/read/income-links.js';
import { incomeStatus } from './modules/income/read/income-status.js';
import { paymentPublisher } from './modules/payments/application/publish.js';
import { PaymentsModule } from './modules/payments/payments.module.js';
import { openPayments } from './modules/payments/read/open-payments.js';
import { sharePublisher } from './modules/reports/application/publish.js';
import { ReportPolicy } from './modules/reports/application/report-policy.js';
import { reportStatus } from './modules/reports/read/report-status.js';
import { reportShares } from './modules/reports/read/report-shares.js';
import { reportViews } from './modules/reports/read/report-views.js';
import { ReportsModule } from './modules/reports/reports.module.js';
import { screeningPublisher } from './modules/screening/application/publish.js';
import { ScreeningPolicy } from './modules/screening/application/screening-policy.js';
import { screeningStatus } from './modules/screening/read/screening-status.js';
import { ScreeningModule } from './modules/screening/screening.module.js';
import { WebhookPolicy } from './modules/webhooks/application/webhook-policy.js';
import { deliveryLog } from './modules/webhooks/read/deliveries.js';
import { endpointProjection, EndpointReader } from './modules/webhooks/read/endpoints.js';
import { WebhooksModule } from './modules/webhooks/webhooks.module.js';
import { AggregateStore } from './platform/aggregates/aggregate-store.js';
import { UseCaseCheck } from './platform/aggregates/use-case.js';
import { BearerTokens } from './platform/http/bearer-tokens.js';
import { LogWatch } from './platform/audit/log-watch.js';
import { Health, NotReady } from './platform/http/health.js';
import { EmbeddedComponent } from './surfaces/platform.js';
import { SurfacesModule } from './surfaces/surfaces.module.js';
import { Log } from './platform/observability/log.js';
import { Metrics } from './platform/observability/metrics.js';
import { CompleteLists } from './platform/subscriptions/complete-lists.js';
import { Projector, type ProjectorObserver } from './platform/subscriptions/projector.js';
import { EventProcessor } from './platform/subscriptions/event-processor.js';
import { Upcasting } from './platform/upcasting/upcasters.js';
import { UpcastingEventStore } from './platform/upcasting/upcasting-event-store.js';
import { CredentialsFile } from './ports/credentials-file.js';
import { EventStore } from './ports/event-store.js';
import { IdempotencyRecords } from './ports/idempotency-records.js';
import { MailSender } from './ports/mail-sender.js';
import { ProcessorWebhookEvents } from './ports/payment-processor.js';
import type { AnyProjection, ProjectionStore } from './ports/projection-store.js';
import { RateLimiter } from './ports/rate-limiter.js';
import { EventHandlers } from './ports/event-handlers.js';
import { ReadModels } from './ports/read-models.js';
import { Scheduler } from './ports/scheduler.js';
import { TokenKeys } from './ports/token-keys.js';
import { TemporaryFiles } from './ports/temporary-files.js';
import { Vault } from './ports/vault.js';
import { WebhookAddressRules, WebhookSender } from './ports/webhook-sender.js';
import { Vendors } from './ports/vendors.js';
import { PublishedEvents, type Links, type Publisher } from './published/events.js';
import type { Vendor } from './vendor-kit/define-vendor.js';
import { VendorRegistry } from './vendor-kit/registry.js';

export const PROJECTIONS: readonly AnyProjection[] = [
  accountProjection,
  accessKeyProjection,
  unusedDetails,
  screeningStatus,
  openPayments,
  reportStatus,
  reportViews,
  reportShares,
  incomeStatus,
  endpointProjection,
  deliveryLog,
];

/** What account holders are told of. */
export const PUBLISHERS: readonly Publisher[] = [screeningPublisher, paymentPublisher, sharePublisher, incomePublisher];

/** No stored shape has been replaced yet. */
export const UPCASTING = new Upcasting([]);

/** What a process of the service runs on, opened before Nest and closed after it. */
export interface Engine {
  readonly clock: Clock;
  readonly health: Health;
  /** Starts and stops with the service; an operator's command does not watch. */
  readonly disk: DiskSpace;
  readonly logWatch: LogWatch;
  readonly metrics: Metrics;
  readonly redis: Redis;
  readonly store: UpcastingEventStore;
  readonly readModels: RedisReadModels;
  readonly projectionStore: ProjectionStore;
  readonly projector: Projector;
  readonly vault: Vault;
  readonly tokenKeys: TokenKeys;
  readonly aggregates: AggregateStore;
  readonly scheduler: Scheduler;
  readonly eventProcessor: EventProcessor;
  readonly vendors: VendorRegistry;
  readonly webhookSender: HttpsWebhookSender;
  close(): Promise<void>;
}

/** Addresses in events, where the service knows how the outside calls it. */
export function linksOf({ publicUrl, publicUrlConfigured }: Config): Links {
  return {
    reportUrl: publicUrlConfigured ? (sessionId) => `${publicUrl}/v1/reports/${sessionId}` : null,
    incomeReportUrl: publicUrlConfigured
      ? (incomeSessionId) => `${publicUrl}/v1/income-sessions/${incomeSessionId}/report`
      : null,
  };
}

export async function assemble(config: Config, found: readonly Vendor[], log: Log, metrics: Metrics): Promise<Engine> {
  const clock = new SystemClock();
  const masterKeys = MasterKeys.parse(
    config.vaultMasterKey ?? (await developmentMasterKey(join(config.dataDir, 'keys'))),
  );
  const tokenKeys = await Es256TokenKeys.from(
    config.jwtSigningKey ?? (await developmentSigningKeys(join(config.dataDir, 'keys'))),
    config.publicUrl,
  );
  const nearlyFull =
    (what: string, variable: string) =>
    ({ usedBytes, totalBytes }: SpaceUsage): void =>
      log.warn(
        { usedBytes, totalBytes, variable },
        `${what} is nearly full: give it more room, and the disk if that is what is short`,
      );
  const disk = new DiskSpace({ directory: config.dataDir, lowBytes: config.diskLowBytes }, diskLog(log));
  const diskFull = (): boolean => disk.full;
  const embedded =
    config.eventStore.kind === 'embedded'
      ? EmbeddedEventStore.open({
          directory: join(config.dataDir, 'events'),
          mapSizeBytes: config.eventStore.maxBytes,
          onNearlyFull: nearlyFull('the event log', 'EVENT_LOG_MAX_BYTES'),
          diskFull,
        })
      : null;
  const testMaxBytes = (): number =>
    embedded && config.eventStore.kind === 'embedded'
      ? embedded.usage().totalBytes * config.eventStore.testShare
      : Infinity;
  const testUsage = (): number => (embedded?.testBytes() ?? 0) / testMaxBytes();
  const raw = embedded ?? (await connectEventStoreDb(config));
  const store = new UpcastingEventStore(raw, UPCASTING);
  const unguarded = await openVault(config, masterKeys, clock, nearlyFull('the vault', 'VAULT_MAX_BYTES'), diskFull);
  await refuseWithoutMasterKeys(unguarded, log);
  const ledger = new ErasureLedger(config.erasureLedger);
  await eraseWhomTheLedgerNames(ledger, unguarded, config.readOnly ? null : store, clock, log);
  const vault = new GuardedVault(unguarded, { ledger, clock, readOnly: config.readOnly });
  const redis = connectRedis(config, log);
  const readModels = new RedisReadModels(redis, store, PROJECTIONS, {
    applyFailed: (projection, stream, error) => {
      metrics.readModelFailures.inc();
      log.warn({ projection, stream, err: error }, 'the read model was not updated at once');
    },
    missed: () => undefined,
  });
  // A connection of its own, so that a status call never waits behind a large commit.
  const projectionRedis = connectRedis(config, log);
  const projectionStore = new RedisProjectionStore(projectionRedis);
  const logWatch = watchLog(raw, config, log);
  const foreign = async (follower: string): Promise<void> => {
    log.error({ follower }, 'has been further than the log goes, and begins again');
    await logWatch
      .report(`The log does not go as far as ${follower} has followed it.`)
      .catch((error: unknown) => log.error({ err: error }, 'the log could not be looked at'));
  };
  const projector = new Projector(store, projectionStore, PROJECTIONS, projectorLog(log, foreign));
  const eventProcessor = new EventProcessor(store, new RedisHandlerCheckpoints(redis), {
    dropped: (reaction, error, delayMs) => log.warn({ reaction, delayMs, err: error }, 'reaction interrupted'),
    lag: (reaction, lagMs) => metrics.reactionLag.set({ reaction }, lagMs / 1_000),
    foreign,
  });
  const aggregates = new AggregateStore(
    config.readOnly ? new ReadOnlyEventStore(store) : store,
    readModels,
    clock,
    { appendConflict: (category) => metrics.appendConflicts.inc({ category }) },
    testUsage,
    eventProcessor,
  );
  const scheduler = new BullMqScheduler(redis, (name, error) => log.error({ timer: name, err: error }, 'timer failed'));
  const attemptMs = config.limits.webhookTimeout * 1_000;
  const webhookSender = new HttpsWebhookSender({ timeoutMs: attemptMs, allow: config.limits.webhookEgressAllow });

  const health = new Health();
  health.add({ name: 'event-store', check: () => raw.ping() });
  health.add({
    name: 'event-log',
    check: async () => {
      if (logWatch.complaint !== null) throw new NotReady(logWatch.complaint);
    },
  });
  health.add({ name: 'vault', check: () => vault.ping() });
  health.add({ name: 'disk', check: () => roomFor('The disk of the data folder', disk.full) });
  if (embedded) health.add({ name: 'event-store-space', check: () => roomFor('The event log', embedded.isFull()) });
  health.add({ name: 'redis', check: async () => void (await redis.ping()) });
  if (runs(config, 'projector')) {
    health.add({ name: 'projections', check: () => projectionsWell(projector) });
    metrics.beforeScrape(async () => {
      for (const { projection, state, lagMs } of projector.status()) {
        metrics.projectionLag.set({ projection }, lagMs / 1_000);
        metrics.projectionStopped.set({ projection }, state === 'stopped' ? 1 : 0);
      }
    });
  }
  metrics.beforeScrape(async () => metrics.diskFree.set(disk.freeBytes));
  if (embedded) {
    metrics.beforeScrape(async () => {
      metrics.eventStoreSpace.set(embedded.usage());
      metrics.testLogUsed.set(testUsage());
    });
  }
  if (unguarded instanceof DiskVault) metrics.beforeScrape(async () => metrics.vaultSpace.set(unguarded.usage()));

  return {
    clock,
    health,
    logWatch,
    disk,
    metrics,
    redis,
    store,
    readModels,
    projectionStore,
    projector,
    vault,
    tokenKeys,
    aggregates,
    scheduler,
    eventProcessor,
    vendors: new VendorRegistry(found, config.vendors),
    webhookSender,
    close: async () => {
      disk.stop();
      await webhookSender.close();
      await store.close();
      await unguarded.close();
      projectionRedis.disconnect();
      redis.disconnect();
    },
  };
}

// What only some installations use is loaded by them only: an operator waits for every command's start.
async function connectEventStoreDb({ eventStore }: Config): Promise<EventStore> {
  const { EventStoreDbEventStore } = await import('./adapters/event-store/eventstoredb.js');
  return EventStoreDbEventStore.connect({ connectionString: eventStore.kind === 'eventstoredb' ? eventStore.url : '' });
}

async function openVault(
  { vault, dataDir }: Config,
  keys: MasterKeys,
  clock: Clock,
  onNearlyFull: (usage: SpaceUsage) => void,
  diskFull: () => boolean,
): Promise<DiskVault | S3Vault> {
  if (vault.kind === 'disk')
    return DiskVault.open({
      directory: join(dataDir, 'vault'),
      keys,
      clock,
      mapSizeBytes: vault.maxBytes,
      onNearlyFull,
      diskFull,
    });
  const { S3Vault } = await import('./adapters/vault/s3.js');
  return S3Vault.open({ ...vault, keys, clock });
}

/** Whoever started without them would serve nothing of what is stored, and say so with every request only. */
async function refuseWithoutMasterKeys(vault: Vault, log: Log): Promise<void> {
  try {
    await vault.checkMasterKeys();
  } catch (error) {
    if (error instanceof MasterKeysMissing) throw new InvalidConfig(error.message);
    if (!(error instanceof Unavailable)) throw error;
    log.warn(
      { err: error },
      'the vault cannot be reached, so that it is not known whether the master keys are complete',
    );
  }
}

/** Before anything is served: the vault may be older than the ledger, and whoever erased last may have died before the log said so. */
async function eraseWhomTheLedgerNames(
  ledger: ErasureLedger,
  vault: DiskVault | S3Vault,
  store: EventStore | null,
  clock: Clock,
  log: Log,
): Promise<void> {
  // From its first start on a vault knows a ledger, and misses it where it is gone.
  if ((await vault.ledgerMark()) === null && (await ledger.after(null)).mark === null)
    await ledger.begin({ begunAt: clock.now().toISOString() });
  const correlationId = newId();
  const by = { actor: { kind: 'system', id: 'erasure-ledger' }, correlationId, causationId: correlationId } as const;
  try {
    const { erased } = await applyLedger(ledger, vault, {
      record: store && ((subjects) => recordErasures(store, (subject) => subjects.has(subject), by)),
    });
    if (erased.length > 0)
      log.warn({ subjects: erased.length }, 'subjects that the erasure ledger names were erased in the vault');
  } catch (error) {
    throw error instanceof OtherLedger ? new InvalidConfig(error.message) : error;
  }
}

/** A projection that is far behind or has stopped makes lists and timers wrong, though single documents stay right. */
const MAX_LAG_MS = 30_000;

async function projectionsWell(projector: Projector): Promise<void> {
  const unwell = projector.status().find(({ state, lagMs }) => state === 'stopped' || lagMs > MAX_LAG_MS);
  if (unwell) throw new Error(`Projection ${unwell.projection} is ${unwell.state} and ${unwell.lagMs} ms behind`);
}

/** Without room writes are answered with 503. */
async function roomFor(what: string, full: boolean): Promise<void> {
  if (full) throw new Error(`${what} is full`);
}

function diskLog(log: Log): DiskSpaceObserver {
  return {
    low: (freeBytes) => log.warn({ freeBytes }, 'the disk of the data folder is getting full'),
    full: (freeBytes) =>
      log.error(
        { freeBytes },
        'the disk of the data folder is full: nothing new is stored until there is room again; the reserve file was removed',
      ),
    roomAgain: (freeBytes) => log.warn({ freeBytes }, 'the disk of the data folder has room again'),
    failed: (error) => log.error({ err: error }, 'the disk of the data folder could not be looked after'),
  };
}

function watchLog(raw: EventStore, { eventStore, dataDir }: Config, log: Log): LogWatch {
  return new LogWatch(raw, eventStore.kind, new ReplacedFile(join(dataDir, 'log-watch.json')), {
    wrong: (complaint) => log.error({ complaint }, 'the log is not what it was'),
    right: () => log.info('the log is as it was seen, or was accepted'),
    unwritten: (error) => log.warn({ err: error }, 'how far the log goes could not be written down'),
  });
}

function projectorLog(log: Log, foreign: (follower: string) => Promise<void>): ProjectorObserver {
  return {
    dropped: (subscription, error, delayMs) => log.warn({ subscription, delayMs, err: error }, 'subscription dropped'),
    lag: () => undefined,
    stopped: (projection, error) =>
      log.fatal({ projection, err: error }, 'projection stopped: it cannot read an event'),
    buildStarted: (projection, generation, why) => {
      if (why === 'foreign') void foreign(`projection ${projection}`);
      log.info({ projection, generation, why }, 'building a read model');
    },
    rebuilt: (report) => log[report.differences?.length ? 'error' : 'info']({ report }, 'read model built'),
    leasesFailed: (error) => log.warn({ err: error }, 'projection leases could not be looked after'),
  };
}

function connectRedis(config: Config, log: Log): Redis {
  const redis = new Redis(config.redisUrl, {
    maxRetriesPerRequest: null,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
    connectionName: `seed-${config.role}`,
  });
  redis.on('error', (error: Error) => log.warn({ err: error }, 'redis connection'));
  return coalesceWrites(redis);
}

/** Also how soon a worker begins after an operator accepted the log. */
const LOG_LOOKED_AT_EVERY_MS = 5_000;

/** Starts what runs by itself once Nest is up, and stops it once the last request was answered. */
@Injectable()
export class EngineRoom implements OnApplicationShutdown {
  private watching: NodeJS.Timeout | undefined;
  private working = false;
  private beginning: Promise<void> = Promise.resolve();

  constructor(
    private readonly config: Config,
    private readonly engine: Engine,
    private readonly commands: CommandBus,
    private readonly deliveryWorkers: DeliveryWorkers | null,
    private readonly log: Log,
  ) {}

  async start(): Promise<void> {
    const { config, engine } = this;
    await engine.logWatch.look();
    if (runs(config, 'projector')) engine.projector.start();
    if (!config.production && !config.readOnly && !config.demoAccounts)
      this.log.warn('no demo accounts are made: NODE_ENV is not set, and HOST is not loopback');
    if (config.demoAccounts && !config.readOnly && runs(config, 'api'))
      await this.commands.execute(new SeedDemoAccounts(config.publicUrl, config.embeddedUrl, config.sandboxUrl));
    if (runs(config, 'worker')) {
      if (config.mail.url === null)
        this.log.info('no mail server is configured (SMTP_URL): the health of webhook endpoints is not mailed');
    }
    this.beginning = this.work();
    await this.beginning;
    this.watching = setInterval(() => void (this.beginning = this.lookAgain()), LOG_LOOKED_AT_EVERY_MS);
  }

  /** Begins what acts by itself, unless the log is not what it was: events that were lost would be sent and settled a second time. */
  private async work(): Promise<void> {
    const { logWatch, eventProcessor, scheduler } = this.engine;
    if (this.working || !runs(this.config, 'worker')) return;
    try {
      // Also while there is a complaint: it is accepted together with what they tell.
      await eventProcessor.forgetForeignPlaces();
      if (logWatch.complaint !== null) return;
      this.working = true;
      this.deliveryWorkers?.start();
      eventProcessor.start();
      await scheduler.start();
    } catch (error) {
      this.log.error({ err: error }, 'the worker could not begin, and tries again');
    }
  }

  private async lookAgain(): Promise<void> {
    await this.beginning;
    await this.engine.logWatch
      .look()
      .catch((error: unknown) => this.log.error({ err: error }, 'the log could not be looked at'));
    await this.work();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.watching);
    await this.beginning;
    await this.engine.scheduler.stop();
    await this.engine.eventProcessor.stop();
    await this.deliveryWorkers?.close();
    await this.engine.projector.stop();
  }
}

/** What the modules need whether a service or an operator runs them. */
export function corePorts(
  config: Config,
  engine: Engine,
  log: Log,
): { readonly provide: Abstract<unknown> | symbol; readonly useValue: unknown }[] {
  return [
    { provide: Clock, useValue: engine.clock },
    { provide: EventStore, useValue: engine.store },
    { provide: ReadModels, useValue: engine.readModels },
    { provide: CompleteLists, useValue: new CompleteLists(engine.store, engine.projectionStore, engine.readModels) },
    { provide: Vault, useValue: engine.vault },
    { provide: TokenKeys, useValue: engine.tokenKeys },
    { provide: AggregateStore, useValue: engine.aggregates },
    {
      provide: RateLimiter,
      useValue: new RedisRateLimiter(
        engine.redis,
        () => engine.vault.installationKey('rate-limits'),
        () => engine.metrics.rateUncounted.inc(),
      ),
    },
    { provide: CredentialsFile, useValue: new DiskCredentialsFile(join(config.dataDir, 'demo-credentials.json')) },
    {
      provide: IdempotencyRecords,
      useValue: new RedisIdempotencyRecords(engine.redis, engine.vault, {}, config.limits.idempotencyKeysPerAccount),
    },
    {
      provide: AccountsOptions,
      useValue: { production: config.production, testVendors: config.testVendors },
    },
    {
      provide: TokenOptions,
      useValue: { ttlSeconds: config.limits.tokenTtl, exchangesPerMinute: config.limits.tokenExchangePerMinute },
    },
    { provide: Config, useValue: config },
    { provide: Log, useValue: log },
    { provide: Metrics, useValue: engine.metrics },
    { provide: Redis, useValue: engine.redis },
    { provide: Vendors, useValue: engine.vendors },
    { provide: PublishedEvents, useValue: { publishers: PUBLISHERS, links: linksOf(config) } },
    { provide: GrantOptions, useValue: { ttlSeconds: config.limits.grantTtl } },
  ];
}

function meterWebhooks({ metrics }: Engine, endpoints: EndpointReader): void {
  metrics.beforeScrape(async () => {
    for (const [status, count] of Object.entries(await endpoints.count()))
      metrics.webhookEndpoints.set({ status }, count);
  });
}

/** Not global, so that Nest ends what runs before it ends what that runs on. */
@Module({})
class EngineRoomModule {
  static of(config: Config, engine: Engine, log: Log): DynamicModule {
    return {
      module: EngineRoomModule,
      imports: [WebhooksModule, ...(runs(config, 'worker') ? [DeliveryWorkersModule] : [])],
      providers: [
        {
          provide: EngineRoom,
          useFactory: (commands: CommandBus, endpoints: EndpointReader, workers: DeliveryWorkers | null = null) => {
            if (runs(config, 'worker')) meterWebhooks(engine, endpoints);
            return new EngineRoom(config, engine, commands, workers, log);
          },
          inject: [CommandBus, EndpointReader, { token: DeliveryWorkers, optional: true }],
        },
      ],
    };
  }
}

@Global()
@Module({})
export class AppModule {
  static of(config: Config, engine: Engine, log: Log): DynamicModule {
    const { limits } = config;
    const links = linksOf(config);
    const ports = [
      ...corePorts(config, engine, log),
      { provide: Scheduler, useValue: engine.scheduler },
      { provide: EventHandlers, useValue: engine.eventProcessor },
      { provide: WebhookSender, useValue: engine.webhookSender },
      { provide: WebhookAddressRules, useValue: new AddressRules({ allow: limits.webhookEgressAllow }) },
      { provide: MailSender, useValue: new SmtpMailSender(config.mail) },
      {
        provide: WebhookPolicy,
        useValue: {
          timeoutSeconds: limits.webhookTimeout,
          redeliveryIntervalSeconds: limits.webhookRedeliveryInterval,
          pingsPerSecond: limits.pingsPerSecond,
          ladder: { ladder: limits.webhookRetryLadder, jitter: limits.webhookJitter },
          health: { failingAfter: limits.webhookFailingAfter, disableAfterSeconds: limits.webhookDisableAfter },
        } satisfies WebhookPolicy,
      },
      { provide: ProcessorWebhookEvents, useValue: engine.vendors.webhookEvents },
      { provide: TemporaryFiles, useValue: new RedisTemporaryFiles(engine.redis, engine.vault) },
      { provide: IncomeLinks, useValue: { reportUrl: (id: string) => links.incomeReportUrl?.(id) ?? null } },
      {
        provide: IncomePolicy,
        useValue: new IncomePolicy({ vendorTimeoutSeconds: limits.vendorTimeout, sessionTtlSeconds: limits.stepUpTtl }),
      },
      {
        provide: ReportPolicy,
        useValue: new ReportPolicy(
          {
            reportValiditySeconds: limits.reportValidity,
            shareWindowSeconds: limits.shareWindow,
            vendorTimeoutSeconds: limits.vendorTimeout,
            pdfLinkSeconds: 300,
            readsPerMinute: limits.reportReadsPerMinute,
            pdfsPerMinute: limits.pdfsPerMinute,
          },
          config.publicUrl,
        ),
      },
      { provide: EmbeddedComponent, useValue: { url: config.embeddedUrl } },
      {
        provide: ScreeningPolicy,
        useValue: new ScreeningPolicy({
          vendorTimeoutSeconds: limits.vendorTimeout,
          otpResendIntervalSeconds: limits.otpResendInterval,
          stepUpTtlSeconds: limits.stepUpTtl,
          stepUpAttempts: limits.stepUpAttempts,
          blockSeconds: limits.blockDuration,
          reportValiditySeconds: limits.reportValidity,
          submitsPerMinutePerAddress: limits.submitsPerMinutePerAddress,
          submitsPerMinute: limits.submitsPerMinute,
          submitsPerHourPerPerson: limits.submitsPerHourPerPerson,
          smsPerHour: limits.smsPerHour,
          smsPerDay: limits.smsPerDay,
        }),
      },
    ];
    return {
      module: AppModule,
      imports: [
        DiscoveryModule,
        CqrsModule.forRoot(),
        BullModule.forRoot({ connection: engine.redis }),
        VendorsModule.of(config, engine, log),
        DeliveryQueueModule,
        AccountsModule,
        ScreeningModule,
        PaymentsModule,
        ReportsModule,
        IncomeModule,
        WebhooksModule,
        SurfacesModule,
        EngineRoomModule.of(config, engine, log),
      ],
      providers: [...ports, BearerTokens, UseCaseCheck],
      exports: [...ports.map(({ provide }) => provide), BearerTokens],
    };
  }
}
