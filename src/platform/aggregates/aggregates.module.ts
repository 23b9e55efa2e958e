import { Global, Module } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { EventStore } from '../../ports/event-store.js';
import { HandlerCheckpoints } from '../../ports/handler-checkpoints.js';
import { ReadModels } from '../../ports/read-models.js';
import { LogWatch } from '../audit/log-watch.js';
import { Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { EventProcessor } from '../subscriptions/event-processor.js';
import { AggregateStore } from './aggregate-store.js';
import { GroupedStream } from './grouped-stream.js';
import { TestTraffic } from './test-traffic.js';

@Global()
@Module({
  providers: [
    {
      provide: EventProcessor,
      useFactory: (
        store: EventStore,
        checkpoints: HandlerCheckpoints,
        metrics: Metrics,
        logWatch: LogWatch,
        log: Log,
      ) =>
        new EventProcessor(store, checkpoints, {
          dropped: (handler, err, delayMs) => log.warn({ handler, delayMs, err }, 'event handler interrupted'),
          lag: (handler, lagMs) => metrics.setHandlerLag(handler, lagMs / 1_000),
          foreign: (handler) => logWatch.report(handler),
        }),
      inject: [EventStore, HandlerCheckpoints, Metrics, LogWatch, Log],
    },
    {
      provide: AggregateStore,
      useFactory: (
        store: EventStore,
        readModels: ReadModels,
        clock: Clock,
        metrics: Metrics,
        test: TestTraffic,
        handlers: EventProcessor,
      ) =>
        new AggregateStore(
          store,
          readModels,
          clock,
          { appendConflict: (category) => metrics.appendConflicts.inc({ category }) },
          test,
          handlers,
        ),
      inject: [EventStore, ReadModels, Clock, Metrics, TestTraffic, EventProcessor],
    },
    {
      provide: GroupedStream,
      useFactory: (store: EventStore, clock: Clock, metrics: Metrics, test: TestTraffic) =>
        new GroupedStream(
          store,
          clock,
          { appendConflict: (category) => metrics.appendConflicts.inc({ category }) },
          test,
        ),
      inject: [EventStore, Clock, Metrics, TestTraffic],
    },
  ],
  exports: [AggregateStore, EventProcessor, GroupedStream],
})
export class AggregatesModule {}
