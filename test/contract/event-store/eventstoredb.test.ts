// The EventStoreDB adapter against the double of the wire protocol: the common suite, and one test per trap of the client.
import { EventStoreDbEventStore } from '../../../src/adapters/event-store/eventstoredb.js';
import { UNKNOWN } from '../../support/eventstoredb-double/faults.js';
import { EventStoreDbDouble } from '../../support/eventstoredb-double/server.js';
import { describeEventStore } from './suite.js';

let double: EventStoreDbDouble;
let store: EventStoreDbEventStore;

function connect(): EventStoreDbEventStore {
  store = EventStoreDbEventStore.connect({ connectionString: double.connectionString });
  return store;
}

describeEventStore('EventStoreDB adapter on the double', {
  open: async () => {
    double = await EventStoreDbDouble.start();
    return connect();
  },
  reopen: async () => {
    await store.close();
    return connect();
  },
  close: async () => {
    await store.close();
    await double.stop();
  },
  logStartsEmpty: true,
  dropSubscriptions: async (how) => {
    double.dropSubscriptions(how === 'end' ? 'end' : UNKNOWN);
    await Promise.resolve();
  },
});
