// Runs a projector of parcels and weights in a process. Tests kill this process. Arguments: <log folder> <redis url>
// <holder>.
import { Redis } from 'ioredis';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { parcels, QUICK, Recorder, weights } from './fixtures.js';

const [, , directory = '', url = '', holder = ''] = process.argv;
const store = EmbeddedEventStore.open({ directory });
new Projector(store, new RedisProjectionStore(new Redis(url)), [parcels, weights], new Recorder(), {
  ...QUICK,
  holder,
}).start();
