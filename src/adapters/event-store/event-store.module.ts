// The log: the one of the installation, read through the upcasters, and watched.
import { join } from 'node:path';
import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataFolderSettings } from '../../config/data-folder.js';
import { EventStoreSettings } from '../../config/event-store.js';
import { ProcessSettings } from '../../config/process.js';
import { LogWatch } from '../../platform/audit/log-watch.js';
import { Health } from '../../platform/http/health.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { TestShare } from '../../platform/aggregates/test-share.js';
import { SharedLogReader } from '../../platform/subscriptions/shared-log-reader.js';
import { UpcastingEventStore } from '../../platform/upcasting/upcasting-event-store.js';
import { Upcasting } from '../../platform/upcasting/upcasters.js';
import { EventStore, StoredLog } from '../../ports/event-store.js';
import { nearlyFull } from '../data-folder.module.js';
import { DiskSpace } from '../disk-space.js';
import { ReplacedFile } from '../durable-files.js';
import { EmbeddedEventStore } from './embedded.js';
import { ReadOnlyEventStore } from './read-only.js';
import { openStoredLog } from './stored-log.js';

@Global()
@Module({
  providers: [
    { provide: StoredLog, useFactory: open, inject: [EventStoreSettings, DataFolderSettings, DiskSpace, Log] },
    {
      provide: EventStore,
      useFactory: (stored: StoredLog, { readOnly }: ProcessSettings, upcasting: Upcasting) =>
        new SharedLogReader(new UpcastingEventStore(readOnly ? new ReadOnlyEventStore(stored) : stored, upcasting)),
      inject: [StoredLog, ProcessSettings, Upcasting],
    },
    {
      provide: LogWatch,
      useFactory: (stored: StoredLog, { place }: EventStoreSettings, { path }: DataFolderSettings, log: Log) =>
        new LogWatch(stored, place.kind, new ReplacedFile(join(path, 'log-watch.json')), {
          wrong: (complaint) => log.error({ complaint }, 'the log is not what it was'),
          right: () => log.info('the log is as it was seen, or was accepted'),
          unwritten: (error) => log.warn({ err: error }, 'how far the log goes could not be written down'),
        }),
      inject: [StoredLog, EventStoreSettings, DataFolderSettings, Log],
    },
    {
      provide: TestShare,
      useFactory: (stored: StoredLog, { place }: EventStoreSettings): TestShare => ({
        used: () =>
          stored instanceof EmbeddedEventStore && place.kind === 'embedded'
            ? stored.testBytes() / (stored.recentUsage().totalBytes * place.testShare)
            : 0,
      }),
      inject: [StoredLog, EventStoreSettings],
    },
  ],
  exports: [StoredLog, EventStore, LogWatch, TestShare],
})
export class EventStoreModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly stored: StoredLog,
    private readonly logWatch: LogWatch,
    private readonly testShare: TestShare,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { stored, logWatch, testShare, health, metrics } = this;
    health.add('event-store', () => stored.ping().then(() => null));
    health.add('event-log', () => logWatch.complaint);
    if (!(stored instanceof EmbeddedEventStore)) return;
    health.add('event-store-space', () =>
      stored.isFull() ? 'The event log is full: raise EVENT_LOG_MAX_BYTES, or make room on its disk.' : null,
    );
    metrics.beforeScrape(async () => {
      metrics.eventStoreSpace.set(stored.usage());
      metrics.testLogUsed.set(testShare.used());
    });
  }

  onApplicationShutdown(): Promise<void> {
    return this.stored.close();
  }
}

function open(settings: EventStoreSettings, folder: DataFolderSettings, disk: DiskSpace, log: Log): Promise<StoredLog> {
  return openStoredLog(settings, folder, {
    onNearlyFull: nearlyFull(log, 'the event log', 'EVENT_LOG_MAX_BYTES'),
    diskFull: () => disk.full,
    onCompressionFailed: (error) => log.warn({ err: error }, 'older events of the log could not be compressed'),
  });
}
