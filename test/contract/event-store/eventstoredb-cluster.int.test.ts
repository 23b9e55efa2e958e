// The common suite on a real cluster. The test double cannot prove everything, because it shares our understanding of
// the protocol.
import { afterAll, describe } from '@jest/globals';
import { EventStoreDbEventStore } from '../../../src/adapters/event-store/eventstoredb.js';
import { describeEventStore } from './suite.js';

const connectionString = process.env['ESDB_URL'] ?? '';
const open: EventStoreDbEventStore[] = [];

function connect(): EventStoreDbEventStore {
  const store = EventStoreDbEventStore.connect({ connectionString });
  open.push(store);
  return store;
}

async function closeAll(): Promise<void> {
  for (const store of open.splice(0)) await store.close();
}

function register(): void {
  afterAll(closeAll);
  describeEventStore('EventStoreDB adapter on a cluster', {
    open: () => Promise.resolve(connect()),
    reopen: async () => {
      await closeAll();
      return connect();
    },
    close: closeAll,
    logStartsEmpty: false,
    together: 'one-after-the-other',
    dropSubscriptions: 'cannot-drop',
  });
}

if (connectionString === '') describe.skip('without a cluster in ESDB_URL', register);
else register();
