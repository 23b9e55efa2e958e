// The operator's way to have projections built anew from the log.
import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../ports/event-store.js';
import type { AnyProjection, ProjectionStore, RebuildReport } from '../../ports/projection-store.js';
import { Projector, type ProjectorObserver, type ProjectorOptions } from './projector.js';
import { delay } from './subscription-supervisor.js';

const LOOK_INTERVAL_MS = 50;

/**
 * Rebuilds beside the live generations, in one pass over the log. Where a running service holds a projection's lease, that
 * process does it; where nobody does, this one. Resolves with one report a projection, in their order, when the
 * new generations are live. Throws when a projection cannot read an event; what was live before stays live then.
 */
export async function rebuild(
  events: EventStore,
  store: ProjectionStore,
  projections: readonly AnyProjection[],
  observer: ProjectorObserver,
  options: ProjectorOptions = {},
): Promise<RebuildReport[]> {
  const request = randomUUID();
  const failed = new AbortController();
  const projector = new Projector(
    events,
    store,
    projections,
    {
      dropped: (subscription, error, delayMs) => observer.dropped(subscription, error, delayMs),
      lag: (subscription, lagMs) => observer.lag(subscription, lagMs),
      gap: (projection, stream) => observer.gap(projection, stream),
      buildStarted: (projection, generation, why) => observer.buildStarted(projection, generation, why),
      rebuilt: (report) => observer.rebuilt(report),
      leasesFailed: (error) => observer.leasesFailed(error),
      stopped: (projection, error) => {
        observer.stopped(projection, error);
        failed.abort(error);
      },
    },
    options,
  );
  await Promise.all(projections.map((projection) => store.requestRebuild(projection, request)));
  projector.start();
  try {
    const reports: RebuildReport[] = [];
    for (const projection of projections) {
      for (let report = await store.lastReport(projection); ; report = await store.lastReport(projection)) {
        failed.signal.throwIfAborted();
        if (report?.request === request) {
          reports.push(report);
          break;
        }
        await delay(LOOK_INTERVAL_MS, failed.signal);
      }
    }
    return reports;
  } finally {
    await projector.stop();
  }
}
