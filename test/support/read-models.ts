// Read models in a Redis that only this test uses.
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AnyProjection } from '../../src/ports/projection-store.js';
import { KEPT_MS, type RedisServer } from './redis.js';

/**
 * While a projector runs, the lists include every event that was appended before. The running test fails when a
 * document cannot be kept.
 */
export function readModelsIn(
  redis: RedisServer,
  store: EventStore,
  projections: readonly AnyProjection[],
): RedisReadModels {
  class Caught extends RedisReadModels {
    private readonly lists = new CompleteLists(store, new RedisProjectionStore(redis.client()), this);

    override list: RedisReadModels['list'] = async (projection, list, query) => {
      await this.lists.caughtUp(projection);
      return super.list(projection, list, query);
    };

    override due: RedisReadModels['due'] = async (projection, ...args) => {
      await this.lists.caughtUp(projection);
      return super.due(projection, ...args);
    };
  }
  const observer = {
    applyFailed: (_projection: string, _stream: string, error: unknown) => {
      throw error;
    },
  };
  return new Caught(redis.client(), store, projections, observer, KEPT_MS);
}
