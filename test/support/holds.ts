// Legal holds in a log that only this test uses.
import type { Clock } from '../../src/kernel/clock.js';
import { StandingHolds } from '../../src/modules/holds/application/standing-holds.js';
import { GroupedStream } from '../../src/platform/aggregates/grouped-stream.js';
import type { EventStore } from '../../src/ports/event-store.js';

export function holdsIn(store: EventStore, clock: Clock): StandingHolds {
  return new StandingHolds(new GroupedStream(store, clock, { appendConflict: () => undefined }), clock);
}
