// The sealed log: workers seal it, one at a time.
import { Module } from '@nestjs/common';
import { HttpSettings } from '../config/http.js';
import { SealSettings } from '../config/sealing.js';
import { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { rolePart } from '../platform/roles/role-part.js';
import { Anchors } from '../ports/anchors.js';
import { CaseTags } from '../ports/case-tags.js';
import { EventStore, StoredLog } from '../ports/event-store.js';
import { HandlerCheckpoints } from '../ports/handler-checkpoints.js';
import { SealSigningKey, TransparencyFiles } from '../ports/transparency-files.js';
import { outsideOf } from './outside.js';
import { SealKeys } from './seal-keys.js';
import { Sealer, type SealerObserver } from './sealer.js';

@Module({
  providers: [
    {
      provide: Sealer,
      useFactory: (...[store, stored, tags, files, leases, key, anchors, http, settings, metrics, log]: Parts) => {
        const keys = new SealKeys(key.text, http.publicUrl);
        return new Sealer(
          {
            store: stored,
            tagOf: tags.of(store, { records: true }),
            files,
            leases,
            keys,
            outside: outsideOf(keys, settings, anchors.list),
          },
          observing(metrics, log),
          settings.interval * 1_000,
        );
      },
      inject: [
        EventStore,
        StoredLog,
        CaseTags,
        TransparencyFiles,
        HandlerCheckpoints,
        SealSigningKey,
        Anchors,
        HttpSettings,
        SealSettings,
        Metrics,
        Log,
      ],
    },
    rolePart('worker', Sealer),
  ],
})
export class TransparencyModule {}

type Parts = [
  EventStore,
  StoredLog,
  CaseTags,
  TransparencyFiles,
  HandlerCheckpoints,
  SealSigningKey,
  Anchors,
  HttpSettings,
  SealSettings,
  Metrics,
  Log,
];

function observing(metrics: Metrics, log: Log): SealerObserver {
  const failing = new Set<string>();
  return {
    stopped: (reason) => {
      metrics.sealingStopped.set(reason === null ? 0 : 1);
      if (reason === null) log.info('the log is sealed again');
      else log.error({ err: reason }, 'the log is not sealed any more');
    },
    failed: (error) => log.warn({ err: error }, 'the log could not be sealed, and the sealer tries again'),
    sealed: (size, waitingMs) => {
      metrics.sealedEvents.set(size);
      metrics.unsealed.set(waitingMs / 1_000);
    },
    asked: (place, problem) => {
      metrics.sealPlaceFailing.set({ place }, problem === null ? 0 : 1);
      if (problem === null && failing.delete(place)) log.info({ place }, 'a place outside takes checkpoints again');
      if (problem === null || failing.has(place)) return;
      failing.add(place);
      log.warn({ err: problem, place }, 'a place outside does not take checkpoints; sealing goes on');
    },
    weak: (place, reason) => log.warn({ place, reason }, 'a place outside does not protect its checkpoints'),
  };
}
