// Read models in a test's own Redis.
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AnyProjection } from '../../src/ports/projection-store.js';
import { KEPT_MS, type RedisServer } from './redis.js';

/**
 * A document that cannot be written fails the test under way. What a read folds from the log is written behind it, so a write may
 * still be on its way when the test's Redis is stopped: that is no failure.
 */
export function readModelsIn(
  redis: RedisServer,
  store: EventStore,
  projections: readonly AnyProjection[],
): RedisReadModels {
  return new RedisReadModels(
    redis.client(),
    store,
    projections,
    {
      applyFailed: (_projection, _stream, error) => {
        if (redis.pid !== undefined) throw error;
      },
      missed: () => undefined,
    },
    KEPT_MS,
  );
}
