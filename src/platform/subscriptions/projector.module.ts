// Keeps the read models up to date in processes with the projector's role, and for an operator's rebuild.
import { Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { ProcessSettings, runs } from '../../config/process.js';
import { EventStore } from '../../ports/event-store.js';
import { ProjectionStore } from '../../ports/projection-store.js';
import { LogWatch } from '../audit/log-watch.js';
import { Health } from '../http/health.js';
import { Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { rolePart } from '../roles/role-part.js';
import { declaredIn, Projections } from './declarations.js';
import { type ProjectionStatus, Projector, type ProjectorObserver } from './projector.js';

/** When a projection is far behind or has stopped, lists and timers are wrong. Single documents stay correct. */
const MAX_LAG_MS = 30_000;

@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: Projector,
      useFactory: (
        events: EventStore,
        store: ProjectionStore,
        discovery: DiscoveryService,
        logWatch: LogWatch,
        log: Log,
      ) => new Projector(events, store, declaredIn(discovery, Projections), observer(log, logWatch)),
      inject: [EventStore, ProjectionStore, DiscoveryService, LogWatch, Log],
    },
    rolePart('projector', Projector),
  ],
  exports: [Projector],
})
export class ProjectorModule implements OnModuleInit {
  constructor(
    private readonly projector: Projector,
    private readonly process: ProcessSettings,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { projector, process, health, metrics } = this;
    if (!runs(process, 'projector')) return;
    health.add('projections', () => lateOf(projector.status()));
    metrics.beforeScrape(async () => {
      for (const { projection, state, lagMs, builtShare } of projector.status()) {
        metrics.projectionLag.set({ projection }, lagMs / 1_000);
        metrics.projectionBuilt.set({ projection }, builtShare ?? 1);
        metrics.projectionStopped.set({ projection }, state === 'stopped' ? 1 : 0);
      }
    });
  }
}

/** A build is not a fault, even if it takes long, because requests are answered from the log in the meantime. */
export function lateOf(
  projections: readonly Pick<ProjectionStatus, 'projection' | 'state' | 'lagMs'>[],
): string | null {
  for (const { projection, state, lagMs } of projections) {
    if (state === 'stopped') return `The projection ${projection} has stopped at an event that it cannot read.`;
    if (state === 'live' && lagMs > MAX_LAG_MS)
      return `The projection ${projection} is ${Math.round(lagMs / 1_000)} seconds behind the log.`;
  }
  return null;
}

function observer(log: Log, logWatch: LogWatch): ProjectorObserver {
  return {
    dropped: (subscription, error, delayMs) => log.warn({ subscription, delayMs, err: error }, 'subscription dropped'),
    lag: () => undefined,
    stopped: (projection, error) =>
      log.fatal({ projection, err: error }, 'projection stopped: it cannot read an event'),
    buildStarted: (projection, generation, why) => {
      if (why === 'foreign') void logWatch.report(`projection ${projection}`);
      log.info({ projection, generation, why }, 'building a read model');
    },
    rebuilt: (report) => log[report.differences?.length ? 'error' : 'info']({ report }, 'read model built'),
    leasesFailed: (error) => log.warn({ err: error }, 'projection leases could not be renewed'),
  };
}
