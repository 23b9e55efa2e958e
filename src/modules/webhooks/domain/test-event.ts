// An event that a server has triggered in the test environment (docs/contract/server.md#test-events). Each one has a stream of its own.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** The type and the data of the published event. The data has been compared with the event catalogue. */
export type TestEvent = DomainEvent<'TestEventTriggered', { readonly type: string; readonly data: object }>;

export const testEvent: Decider<TestEvent['data'] | null, TestEvent['data'], TestEvent> = {
  category: 'test_event',
  initial: null,

  decide({ type, data }, triggered) {
    return triggered === null ? [{ type: 'TestEventTriggered', data: { type, data } }] : [];
  },

  evolve(before, event) {
    switch (event.type) {
      case 'TestEventTriggered':
        return event.data;
      default:
        return assertNever(event as never, before);
    }
  },
};
