// The log of the installation, which is read through the upcasters and watched for losses.
import { join } from 'node:path';
import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataFolderSettings } from '../../config/data-folder.js';
import { EventStoreSettings } from '../../config/event-store.js';
import { ProcessSettings } from '../../config/process.js';
import { withTimeout } from '../../kernel/with-timeout.js';
import { LogWatch, WATCH_FILE } from '../../platform/audit/log-watch.js';
import { Health } from '../../platform/http/health.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { TestTraffic } from '../../platform/aggregates/test-traffic.js';
import { SharedLogReader } from '../../platform/subscriptions/shared-log-reader.js';
import { UpcastingEventStore } from '../../platform/upcasting/upcasting-event-store.js';
import { Upcasting } from '../../platform/upcasting/upcasters.js';
import { EventStore, StoredLog } from '../../ports/event-store.js';
import { nearlyFull } from '../data-folder.module.js';
import { DiskSpace } from '../disk-space.js';
import { ReplacedFile } from '../durable-files.js';
import { EmbeddedEventStore } from './embedded.js';
import { RefusingEventStore } from './refusing.js';

const LAST_LOOK_WITHIN_MS = 5_000;

@Global()
@Module({
  providers: [
    { provide: StoredLog, useFactory: open, inject: [EventStoreSettings, DataFolderSettings, DiskSpace, Log] },
    {
      provide: EventStore,
      useFactory: (stored: StoredLog, logWatch: LogWatch, upcasting: Upcasting) =>
        new SharedLogReader(
          new UpcastingEventStore(new RefusingEventStore(stored, () => logWatch.refusal()), upcasting),
        ),
      inject: [StoredLog, LogWatch, Upcasting],
    },
    {
      provide: LogWatch,
      useFactory: (
        stored: StoredLog,
        { place }: EventStoreSettings,
        { path }: DataFolderSettings,
        { readOnly }: ProcessSettings,
        log: Log,
      ) => new LogWatch(stored, place.kind, new ReplacedFile(join(path, WATCH_FILE)), log, readOnly),
      inject: [StoredLog, EventStoreSettings, DataFolderSettings, ProcessSettings, Log],
    },
    {
      provide: TestTraffic,
      useFactory: (stored: StoredLog, { place }: EventStoreSettings) =>
        new TestTraffic(() =>
          stored instanceof EmbeddedEventStore && place.kind === 'embedded'
            ? stored.testBytes() / (stored.recentUsage().totalBytes * place.testTraffic)
            : 0,
        ),
      inject: [StoredLog, EventStoreSettings],
    },
  ],
  exports: [StoredLog, EventStore, LogWatch, TestTraffic],
})
export class EventStoreModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly stored: StoredLog,
    private readonly logWatch: LogWatch,
    private readonly testTraffic: TestTraffic,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { stored, logWatch, testTraffic, health, metrics } = this;
    health.add('event-store', () => stored.ping().then(() => null));
    health.add('event-log', () => logWatch.complaint);
    if (!(stored instanceof EmbeddedEventStore)) return;
    health.add('event-store-space', () =>
      stored.isFull() ? 'The event log is full: raise EVENT_LOG_MAX_BYTES, or make room on its disk.' : null,
    );
    metrics.beforeScrape(async () => {
      metrics.eventStoreSpace.set(stored.usage());
      metrics.testLogUsed.set(testTraffic.used());
    });
  }

  async onApplicationShutdown(): Promise<void> {
    // Closing does not wait for a log that cannot be reached.
    await withTimeout(LAST_LOOK_WITHIN_MS, this.logWatch.leave());
    await this.stored.close();
  }
}

/** The folder of the embedded log. */
export function eventsFolder({ path }: DataFolderSettings): string {
  return join(path, 'events');
}

async function open(
  { place }: EventStoreSettings,
  folder: DataFolderSettings,
  disk: DiskSpace,
  log: Log,
): Promise<StoredLog> {
  if (place.kind === 'embedded')
    return EmbeddedEventStore.open({
      directory: eventsFolder(folder),
      mapSizeBytes: place.maxBytes,
      uncompressedEvents: place.uncompressedEvents,
      onNearlyFull: nearlyFull(log, 'the event log', 'EVENT_LOG_MAX_BYTES'),
      diskFull: () => disk.full,
      onCompressionFailed: (error) => log.warn({ err: error }, 'older events of the log could not be compressed'),
    });
  // Loaded only when it is used, because otherwise every operator command would start more slowly.
  const { EventStoreDbEventStore } = await import('./eventstoredb.js');
  return EventStoreDbEventStore.connect({ connectionString: place.url });
}
