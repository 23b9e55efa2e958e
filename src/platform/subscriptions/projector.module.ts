// What keeps the read models up to date: runs in processes of the projector's role, and for an operator's rebuild.
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { DataFolderSettings } from '../../config/data-folder.js';
import { EventStoreSettings } from '../../config/event-store.js';
import { ProcessSettings, runs } from '../../config/process.js';
import { RedisSettings } from '../../config/redis.js';
import { EventStore } from '../../ports/event-store.js';
import { ProjectionStore } from '../../ports/projection-store.js';
import { LogWatch } from '../audit/log-watch.js';
import { Health } from '../http/health.js';
import { Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { rolePart } from '../roles/role-part.js';
import { declaredIn, Projections } from './declarations.js';
import { type ProjectionStatus, Projector, type ProjectorObserver, type ProjectorOptions } from './projector.js';
import { RebuildProcess } from './rebuild-process.js';

/** A projection that is far behind or has stopped makes lists and timers wrong, though single documents stay right. */
const MAX_LAG_MS = 30_000;

/** What the process is told first; plain data. */
export interface RebuildSettings {
  readonly eventStore: EventStoreSettings;
  readonly folder: DataFolderSettings;
  readonly redis: RedisSettings;
  readonly process: Pick<ProcessSettings, 'role'>;
  /** Of the leases. */
  readonly token: string;
}

/** Where there are fewer cores than work, requests come first. */
const NICENESS = 10;

const PROCESS = fileURLToPath(new URL('../../rebuild-process.js', import.meta.url));

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
        process: ProcessSettings,
        eventStore: EventStoreSettings,
        folder: DataFolderSettings,
        redis: RedisSettings,
      ) =>
        new Projector(events, store, declaredIn(discovery, Projections), observer(log, logWatch), {
          // An operator's command has nobody who waits for it.
          elsewhere: runs(process, 'projector')
            ? inProcess({ eventStore, folder, redis, process: { role: process.role } })
            : null,
        }),
      inject: [
        EventStore,
        ProjectionStore,
        DiscoveryService,
        LogWatch,
        Log,
        ProcessSettings,
        EventStoreSettings,
        DataFolderSettings,
        RedisSettings,
      ],
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

/** One that is built is no fault, however long that takes: requests are answered from the log meanwhile. */
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

function inProcess(settings: Omit<RebuildSettings, 'token'>): NonNullable<ProjectorOptions['elsewhere']> {
  return (token, listener, observer) =>
    new RebuildProcess(() => beginRebuilds({ ...settings, token }), listener, observer);
}

/** Begins a process of low priority that builds read models; it ends when it is told to, or when this process does. */
export function beginRebuilds(settings: RebuildSettings, program = PROCESS): ChildProcess {
  const child = fork(program, {
    // Where this process is debugged, that takes the port.
    execArgv: [...process.execArgv, '--inspect-port=0'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // It could not be started; its error follows.
  if (child.pid === undefined) return child;
  try {
    // Before it has threads: on Linux each has a priority of its own, and begins with that of the thread that makes it.
    setPriority(child.pid, NICENESS);
  } catch {
    // This process has a lower one already, or may not choose: it goes without.
  }
  child.send(settings, () => undefined);
  return child;
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
    leasesFailed: (error) => log.warn({ err: error }, 'projection leases could not be looked after'),
  };
}
